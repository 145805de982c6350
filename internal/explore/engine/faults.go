package engine

import (
	"slices"

	"lockstep/internal/explore/simredis"
)

// stepServerClock lets the clock of a server jump. Keys that were to expire by then have expired.
func (x *Execution) stepServerClock(s *simredis.Server) {
	s.Ahead += Jump
	next, err := x.Cluster.After(s, Jump)
	if err != nil {
		x.Fail(err)
		return
	}
	x.becomes(s, next, nil)
	ignoreClock(x.tasks)
}

// ignoreClock lets no task rely on it that it is the same time as when it asked last.
func ignoreClock(tasks []*Task) {
	for _, t := range tasks {
		t.round.at = -1
	}
}

// itsTimeout returns the first timer of a's that no time would bring, nil if there is none.
func (a *Actor) itsTimeout() *timer {
	i := slices.IndexFunc(a.Process.x.never, func(t *timer) bool { return t.actor == a })
	if i < 0 {
		return nil
	}
	return a.Process.x.never[i]
}

// Listens reports whether a process listens to anything.
func (p *Process) Listens() bool {
	return slices.ContainsFunc(p.x.listeners, func(l *listener) bool { return l.actor.Process == p && len(l.notify) > 0 })
}
