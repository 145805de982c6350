package engine

import (
	"slices"

	"lockstep/internal/explore/simredis"
)

// stepServerClock lets the clock of a server jump. Keys that were to expire by then have expired.
func (x *Execution) advanceServerClock(s *simredis.Server) {
	s.ClockOffset += ClockJumpSize
	next, err := x.Cluster.StateAfter(s, ClockJumpSize)
	if err != nil {
		x.Fail(err)
		return
	}
	x.setState(s, next, nil)
	invalidateClockReads(x.tasks)
}

// ignoreClock lets no task rely on it that it is the same time as when it asked last.
func invalidateClockReads(tasks []*Task) {
	for _, t := range tasks {
		t.round.lastCommandAt = -1
	}
}

// itsTimeout returns the first timer of a's that no time would bring, nil if there is none.
func (a *Actor) firstTimeout() *timer {
	i := slices.IndexFunc(a.Process.x.timeoutTimers, func(t *timer) bool { return t.actor == a })
	if i < 0 {
		return nil
	}
	return a.Process.x.timeoutTimers[i]
}

// Listens reports whether a process listens to anything.
func (p *Process) IsListening() bool {
	return slices.ContainsFunc(p.x.listeners, func(l *listener) bool { return l.actor.Process == p && len(l.notify) > 0 })
}
