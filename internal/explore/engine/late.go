package engine

import (
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore/simredis"
)

// sent is what a task has sent to a server.
type sent struct {
	from     *Task
	commands []redis.Cmder
	server   *simredis.Server
	conn     *simredis.Conn
	command  *simredis.Command
	loose    bool // it is the rest of a pipeline, and may never arrive
}

// oldest returns the index of the first late command of a task, below zero if it has none.
func (t *Task) oldest() int {
	return slices.IndexFunc(t.x.late, func(l sent) bool { return l.from == t })
}

// sentLate reports whether a command of a's is under way.
func (a *Actor) sentLate() bool {
	return slices.ContainsFunc(a.Process.x.late, func(l sent) bool { return l.from.actor == a })
}

// appendLate writes what is under way to a server.
func (w *stateWriter) appendLate(b []byte, s *simredis.Server, o Order) []byte {
	for _, l := range w.x.late {
		if l.server == s {
			b = fmt.Appendf(b, "|late %d %t %q", o.Places[l.from.actor.Index], l.loose, l.command.Text())
		}
	}
	return b
}

// addArrivals adds that late commands take effect. They do even if everybody is gone by then. Those of one task keep their order.
func (o *options) addArrivals() {
	for i, l := range o.x.late {
		if l.from.oldest() == i {
			o.add(l.from.id, Arrives)
			if l.loose {
				o.add(l.from.id, NeverArrives)
			}
		}
	}
}

// arrive lets the first late command of t take effect. Nobody waits for the reply.
func (t *Task) arrive() {
	i := t.oldest()
	l := t.x.late[i]
	t.x.late = slices.Delete(slices.Clone(t.x.late), i, i+1)
	if t.x.Recorder != nil {
		t.x.Recorder.Sending(l.server.Index, l.commands)
	}
	if l.server.Health == simredis.Crashed {
		return
	}
	if _, err := t.x.effect(l); err != nil {
		t.x.Fail(err)
	}
}
