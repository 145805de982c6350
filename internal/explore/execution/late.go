package execution

import (
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore/simredis"
)

// underWay are the commands whose senders were told an error, and that have not taken effect yet.
type underWay struct{ late []lateCommand }

type lateCommand struct {
	from     *Task
	commands []redis.Cmder
	server   int
	conn     *simredis.Conn
	command  *simredis.Command
}

// keep keeps what t has sent, if that is late and not lost.
func (u *underWay) keep(t *Task, server int, conn *simredis.Conn, command *simredis.Command) {
	if t.fate == Delays {
		u.late = append(u.late, lateCommand{t, t.pending, server, conn, command})
	}
}

// oldest returns the index of the first late command of a task, below zero if it has none.
func (u *underWay) oldest(t *Task) int {
	return slices.IndexFunc(u.late, func(l lateCommand) bool { return l.from == t })
}

// sentLate reports whether a command of a's is under way.
func (u *underWay) sentLate(a *Actor) bool {
	return slices.ContainsFunc(u.late, func(l lateCommand) bool { return l.from.actor == a })
}

// appendLate writes what is under way to a server.
func (u *underWay) appendLate(b []byte, s *simredis.Server, o Order) []byte {
	for _, l := range u.late {
		if l.server == s.Index {
			b = fmt.Appendf(b, "|late %d %q", o.Place(l.from.actor.Index), l.command.Text())
		}
	}
	return b
}

// addArrivals adds that late commands take effect. They do even if everybody is gone by then. Those of one task keep their order.
func (m *menu) addArrivals() {
	for i, l := range m.late {
		if m.oldest(l.from) == i {
			m.add(Arrives, l.from.id)
		}
	}
}

// arrive lets the first late command of t take effect. Nobody waits for the reply.
func (x *Execution) arrive(t *Task) {
	i := x.oldest(t)
	l := x.late[i]
	x.late = slices.Delete(slices.Clone(x.late), i, i+1)
	if x.recorder != nil {
		x.recorder.Sending(l.server, l.commands)
	}
	s := x.Cluster.Servers()[l.server]
	if s.Health == simredis.Crashed {
		return
	}
	a, err := x.Cluster.Ask(s, l.conn, t.actor.Index, x.now, l.command)
	if err != nil {
		x.Fail(err)
		return
	}
	if x.recorder != nil {
		x.recorder.Replied(a.Reply, len(l.commands))
	}
	before := s.Holds
	x.becomesBy(t.actor, s, a.Then)
	x.publish(a.Published)
	x.checker.Booked(before, a.Orders)
}
