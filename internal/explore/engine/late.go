package engine

import (
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore/simredis"
)

// underWay are the commands whose senders were told an error, and that have not taken effect yet.
type underWay struct{ late []sent }

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
func (u *underWay) oldest(t *Task) int {
	return slices.IndexFunc(u.late, func(l sent) bool { return l.from == t })
}

// sentLate reports whether a command of a's is under way.
func (u *underWay) sentLate(a *Actor) bool {
	return slices.ContainsFunc(u.late, func(l sent) bool { return l.from.actor == a })
}

// appendLate writes what is under way to a server.
func (u *underWay) appendLate(b []byte, s *simredis.Server, o Order) []byte {
	for _, l := range u.late {
		if l.server == s {
			b = fmt.Appendf(b, "|late %d %t %q", o.Places[l.from.actor.Index], l.loose, l.command.Text())
		}
	}
	return b
}

// addArrivals adds that late commands take effect. They do even if everybody is gone by then. Those of one task keep their order.
func (x *Execution) addArrivals() {
	for i, l := range x.late {
		if x.oldest(l.from) == i {
			x.add(l.from.id, Arrives)
			if l.loose {
				x.add(l.from.id, NeverArrives)
			}
		}
	}
}

// arrive lets the first late command of t take effect. Nobody waits for the reply.
func (x *machine) arrive(t *Task) {
	i := x.oldest(t)
	l := x.late[i]
	x.late = slices.Delete(slices.Clone(x.late), i, i+1)
	if x.recorder != nil {
		x.recorder.Sending(l.server.Index, l.commands)
	}
	if l.server.Health == simredis.Crashed {
		return
	}
	before := l.server.Holds
	a, err := x.effect(l)
	if err != nil {
		x.Fail(err)
		return
	}
	x.checker.Booked(before, a.Orders)
}
