package engine

import (
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore/simredis"
)

// sent is what a task has sent to a server.
type sentCommand struct {
	task     *Task
	commands []redis.Cmder
	server   *simredis.Server
	conn     *simredis.Conn
	command  *simredis.Command
	losable  bool // it is the rest of a pipeline, and may never arrive
}

// oldest returns the index of the first late command of a task, below zero if it has none.
func (t *Task) firstLate() int {
	return slices.IndexFunc(t.x.lateCommands, func(l sentCommand) bool { return l.task == t })
}

// sentLate reports whether a command of a's is under way.
func (a *Actor) hasLateCommand() bool {
	return slices.ContainsFunc(a.Process.x.lateCommands, func(l sentCommand) bool { return l.task.actor == a })
}

// appendLate writes what is under way to a server.
func (w *stateWriter) appendLate(b []byte, s *simredis.Server, o Order) []byte {
	for _, l := range w.x.lateCommands {
		if l.server == s {
			b = fmt.Appendf(b, "|late %d %t %q", o.Places[l.task.actor.Index], l.losable, l.command.Text())
		}
	}
	return b
}

// addArrivals adds that late commands take effect. They do even if everybody is gone by then. Those of one task keep their order.
func (o *optionList) addArrivals() {
	for i, l := range o.x.lateCommands {
		if l.task.firstLate() == i {
			o.add(l.task.id, Arrives)
			if l.losable {
				o.add(l.task.id, NeverArrives)
			}
		}
	}
}

// arrive lets the first late command of t take effect. Nobody waits for the reply.
func (t *Task) executeLate() {
	i := t.firstLate()
	l := t.x.lateCommands[i]
	t.x.lateCommands = slices.Delete(slices.Clone(t.x.lateCommands), i, i+1)
	if t.x.Recorder != nil {
		t.x.Recorder.Sending(l.server.Index, l.commands)
	}
	if l.server.Health == simredis.Crashed {
		return
	}
	if _, err := t.x.execute(l); err != nil {
		t.x.Fail(err)
	}
}
