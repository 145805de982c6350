package engine

import (
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore/simredis"
)

// sentCommand is a command on its way from a task to a server.
type sentCommand struct {
	task      *Task             // sender
	commands  []redis.Cmder     // the command as the client sent it; several: a transaction
	server    *simredis.Server  // receiver
	conn      *simredis.Conn    // connection that carries the command; nil: none, because the command is cached
	command   *simredis.Command // the command as the server receives it
	droppable bool              // part of a pipeline whose connection may break, so that it never arrives
}

// firstLate returns the index of t's first command in lateCommands; negative: it has none.
func (t *Task) firstLate() int {
	return slices.IndexFunc(t.x.lateCommands, func(l sentCommand) bool { return l.task == t })
}

// hasLateCommand reports whether a command of a is among the late ones.
func (a *Actor) hasLateCommand() bool {
	return slices.ContainsFunc(a.Process.x.lateCommands, func(l sentCommand) bool { return l.task.actor == a })
}

// appendLate appends the late commands to a server.
func (w *stateWriter) appendLate(b []byte, s *simredis.Server, o Order) []byte {
	for _, l := range w.x.lateCommands {
		if l.server == s {
			b = fmt.Appendf(b, "|late %d %t %q", o.Places[l.task.actor.Index], l.droppable, l.command.Text())
		}
	}
	return b
}

// addArrivals adds the transitions by which late commands take effect, even after all actors have finished. The commands of one task keep
// their order.
func (list *transitionList) addArrivals() {
	for i, l := range list.x.lateCommands {
		if l.task.firstLate() == i {
			list.add(l.task.id, Arrives)
			if l.droppable {
				list.add(l.task.id, NeverArrives)
			}
		}
	}
}

// executeLate makes the first late command of t take effect. Nobody receives the reply.
func (t *Task) executeLate() {
	i := t.firstLate()
	l := t.x.lateCommands[i]
	t.x.lateCommands = slices.Delete(slices.Clone(t.x.lateCommands), i, i+1)
	if t.x.Recorder != nil {
		t.x.Recorder.OnSend(l.server.Index, l.commands)
	}
	if l.server.Health == simredis.Crashed {
		return
	}
	if _, err := t.x.execute(l); err != nil {
		t.x.Fail(err)
	}
}
