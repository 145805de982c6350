package service

import (
	"context"
	"time"

	"lockstep/internal/lock"
)

const (
	beatInterval   = time.Second           // time between two heartbeats, unless another replica asks for one
	changeInterval = 20 * time.Millisecond // time between two checks of the other replicas' states, while waiting for them
)

// SendHeartbeats sends heartbeats until ctx ends: at once, every second, and whenever another replica asks for one.
func (s *Shop) SendHeartbeats(ctx context.Context) {
	stop := s.Ledger.OnHeartbeatRequest(s.beatRequested.set)
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

// signal is a flag that a goroutine can wait for; receiving from it clears it.
type signal chan struct{}

// set sets the signal. It has no effect if the signal is set already.
func (c signal) set() {
	select {
	case c <- struct{}{}:
	default: // It is set already.
	}
}

// sharedBeat is a heartbeat that several callers wait for.
type sharedBeat struct {
	ended chan struct{} // closed when state and err are set
	state State
	err   error
}

// beat sends a heartbeat and applies the state that the ledger returns. Calls of beat during a heartbeat share the next heartbeat.
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

// exchangeState sends a heartbeat. If that reveals a change for which this replica has drained, it sends another at once.
func (s *Shop) exchangeState(ctx context.Context) (State, error) {
	for {
		start, own := s.Clock.Now(), s.ownState()
		state, err := s.Ledger.Beat(ctx, own)
		if err != nil {
			return state, err
		}
		s.applyState(start, state)
		for _, other := range state.Future {
			s.Log.Warn("heartbeat: Redis's clock went back; the other replica does not count as alive until its next heartbeat",
				"other", other.Name, "last_beat", other.LastBeat)
		}
		s.closeSession(ctx)
		if drained := s.ownState().Drained; drained == "" || drained == own.Drained {
			return state, nil
		}
	}
}

// ownState returns this replica's state for the heartbeat.
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

// applyState stores the state that the ledger returned to the heartbeat begun at start.
func (s *Shop) applyState(start time.Time, state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastBeat, s.changeOwner = start, state.Change
	if state.Run.ID != "" {
		s.run = state.Run
	}
	s.notify()
}

// notify wakes all sales that wait for the next run. s.mu is held.
func (s *Shop) notify() {
	close(s.stateChanged)
	s.stateChanged = make(chan struct{})
}
