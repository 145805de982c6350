package execution

import (
	"fmt"

	"lockstep/internal/explore/simredis"
)

// A failover has two steps. From some command on, the replica gets nothing more: that is where the explorer chooses what will be lost.
// Later the replica takes its master's place, and what came since then is gone, although it was acknowledged.

// wouldLose reports whether what the last command did would be lost: otherwise it makes no difference that the replica does not get it.
func (x *Execution) wouldLose() bool {
	s := x.Cluster.Lagging()
	return s != nil && x.Cluster.Loses(s)
}

// addFailover adds that the replica which lags takes its master's place.
func (m *menu) addFailover() {
	if s := m.Cluster.Lagging(); s != nil && s.Health == simredis.Well {
		m.add(FailsOver, 0)
	}
}

// failOver lets a server's replica take its place. Those who listened there connect anew: what they did not hear by then is lost, and
// they are told that they may have missed something.
func (x *Execution) failOver(s *simredis.Server) {
	next := x.Cluster.Promoted(s)
	x.Cluster.FailsOver(s)
	x.becomes(s, next)
	if s.Index > 0 {
		return // they listen to another one
	}
	for _, l := range x.listeners {
		l.messages = []string{""}
	}
}

// appendHidden writes what a server has beside what it holds.
func (x *Execution) appendHidden(b []byte, s *simredis.Server, o Order) []byte {
	if s.Replica != nil {
		b = fmt.Appendf(b, "|replica %s", o.content(x, s.Replica))
	}
	if s.Ahead != 0 {
		b = fmt.Appendf(b, "|ahead %d", s.Ahead)
	}
	return x.appendLate(b, s, o)
}
