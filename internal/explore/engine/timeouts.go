package engine

import (
	"slices"

	"lockstep/internal/explore/simredis"
)

// advanceServerClock makes the clock of a server jump ahead. Keys that expire within the jump are gone.
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

// invalidateClockReads makes tasks forget when they last sent a command, so that no task takes its next attempt for one at the same time.
func invalidateClockReads(tasks []*Task) {
	for _, t := range tasks {
		t.round.lastCommandAt = -1
	}
}

// firstTimeout returns a's first timer that only the fault timeout fires; nil if there is none.
func (a *Actor) firstTimeout() *timer {
	i := slices.IndexFunc(a.Process.x.timeoutTimers, func(t *timer) bool { return t.actor == a })
	if i < 0 {
		return nil
	}
	return a.Process.x.timeoutTimers[i]
}

// IsListening reports whether the process is subscribed to any channel.
func (p *Process) IsListening() bool {
	return slices.ContainsFunc(p.x.listeners, func(l *listener) bool { return l.actor.Process == p && len(l.notify) > 0 })
}
