package service

import (
	"context"
	"time"

	"lockstep/internal/lock"
)

const (
	beatInterval   = time.Second           // how often a replica says what it does, if nobody calls
	changeInterval = 20 * time.Millisecond // how often a change looks whether the last sale has ended
)

// Live beats until ctx ends: at once, every second, and when another replica calls.
func (s *Shop) Live(ctx context.Context) {
	stop := s.Ledger.OnCall(s.beatRequested.set)
	defer stop()
	s.beatRequested.set()
	for healthy := true; ; {
		wait, stop := lock.WithTimeout(ctx, s.Clock, beatInterval, lock.ErrTimeout)
		_ = s.Clock.Wait(wait, s.beatRequested)
		stop()
		if ctx.Err() != nil {
			return
		}
		_, err := s.beat(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && healthy {
			s.Log.Error("heartbeat", "error", err)
		} else if err == nil && !healthy {
			s.Log.Info("heartbeat: redis is back")
		}
		healthy = err == nil
	}
}

// signal is set, or it is not.
type signal chan struct{}

func (c signal) set() {
	select {
	case c <- struct{}{}:
	default: // it is
	}
}

// round is a heartbeat that many wait for.
type sharedBeat struct {
	ended chan struct{}
	state State
	err   error
}

// beat tells what this replica is doing, and learns of the run that is on, and of a change of it. Whoever calls it while it is under way
// shares the next one.
func (s *Shop) beat(ctx context.Context) (State, error) {
	s.mu.Lock()
	next, isFirst := s.nextBeat, s.nextBeat == nil
	if isFirst {
		next = &sharedBeat{ended: make(chan struct{})}
		s.nextBeat = next
	}
	s.mu.Unlock()
	if isFirst {
		s.beatToken <- struct{}{}
		s.mu.Lock()
		s.nextBeat = nil
		s.mu.Unlock()
		next.state, next.err = s.exchangeState(context.WithoutCancel(ctx))
		<-s.beatToken
		close(next.ended)
	}
	if err := s.Clock.Wait(ctx, next.ended); err != nil {
		return State{}, lock.WaitError(ctx, 0)
	}
	return next.state, next.err
}

// exchange is a heartbeat. If a change is going on, and the last sale in flight here has ended, it says so at once.
func (s *Shop) exchangeState(ctx context.Context) (State, error) {
	for {
		start, own := s.Clock.Now(), s.ownState()
		state, err := s.Ledger.Beat(ctx, own)
		if err != nil {
			return state, err
		}
		s.applyState(start, state)
		for _, other := range state.Future {
			s.Log.Warn("heartbeat: Redis's clock went back; until its next heartbeat this replica does not count as living",
				"other", other.Name, "told", other.LastBeat)
		}
		s.closeSession(ctx)
		if drained := s.ownState().Drained; drained == "" || drained == own.Drained {
			return state, nil
		}
	}
}

// replica returns what this replica is doing.
func (s *Shop) ownState() Replica {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := Replica{Name: s.Replica, Run: s.run.ID, Sales: s.inFlight.ids()}
	if s.session == nil {
		own.Drained = s.changeOwner
	} else {
		own.Run, own.Admitted, own.Overlap = s.session.sale.Run.ID, s.session.admitted, s.session.sale.overlap()
	}
	return own
}

// apply notes what the ledger answered to a heartbeat.
func (s *Shop) applyState(start time.Time, state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastBeat, s.changeOwner = start, state.Change
	if state.Run.ID != "" {
		s.run = state.Run
	}
	s.notify()
}

// notify wakes those who wait for the next run. s.mu is held.
func (s *Shop) notify() {
	close(s.stateChanged)
	s.stateChanged = make(chan struct{})
}
