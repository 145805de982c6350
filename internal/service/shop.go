package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/service/history"
)

const watchSlots = 8 // of the connections that the store has, ten a core

// Shop sells, run by run. A run has one lock and one initial stock. Between two runs no replica admits a sale, and every sale has ended, so
// that no run mixes versions. A Shop is made by Open.
type Shop struct {
	Stock     Stock
	Ledger    Ledger
	Key       LockKey
	Barrier   lock.Locker // held while a run is changed; Ledger.Beat says by whom
	Clock     lock.Clock
	NewID     func() string
	Log       *slog.Logger
	Observers Observers // of its sales
	Replica   string

	Strategies map[string]strategy.Strategy // all there are, by name
	Parts      strategy.Parts               // of their locks, but for what the settings say

	slots   Slots
	woken   signal // Live should beat at once
	asked   asked
	beating chan struct{} // holds one token during a heartbeat

	mu       sync.Mutex
	settings history.Settings
	run      history.Run   // the one that is on, as far as is known here
	changing string        // the change that is going on, as far as is known here; "" if none is
	lastBeat time.Time     // when this replica last told what it does
	next     *round        // the heartbeat that has not begun; nil if nobody waits for one
	session  *session      // nil if no sale was admitted since the last change
	changed  chan struct{} // closed when there is something new for those who wait to be admitted
}

// prepare makes what a shop needs.
func (s *Shop) prepare(settings history.Settings) {
	s.settings, s.slots, s.asked.times = settings, make(Slots, watchSlots), map[string]int{}
	s.woken, s.beating, s.changed = make(signal, 1), make(chan struct{}, 1), make(chan struct{})
}

// Close gives back what the locks keep, and tells the other replicas that this one is gone. Sales must have ended.
func (s *Shop) Close(ctx context.Context) error {
	s.mu.Lock()
	s.changing = "closed"
	s.mu.Unlock()
	s.closeSession(ctx)
	return s.Ledger.Quit(ctx)
}

// Sell sells one piece in the current run, as order id, which no other order has. It fails as Sale.Sell does, but with ErrRunOver and
// lock.ErrTimeout only when no run has taken the sale for too long.
func (s *Shop) Sell(ctx context.Context, id string) (Receipt, error) {
	owner := lock.Owner(id)
	return s.sell(ctx, id, func(session *session) (Receipt, error) {
		receipt, err := session.sellAs(ctx, id, owner)
		owner = lock.Owner(s.NewID()) // in the next run it is another sale to the lock
		return receipt, err
	})
}

// sell lets a sale into the current run, or into the next one if that ends first.
func (s *Shop) sell(ctx context.Context, id string, sell func(*session) (Receipt, error)) (receipt Receipt, err error) {
	defer s.asked.register(id)()
	err = s.retryInNextRun(ctx, func() error {
		session, err := s.admit()
		if err != nil {
			return err
		}
		defer s.leave(ctx, session)
		receipt, err = sell(session)
		return err
	})
	if err != nil {
		return Receipt{}, err
	}
	s.Log.Info("sold", "lock", receipt.Lock, "before", receipt.Before, "after", receipt.After, "wait", receipt.Wait.Round(time.Microsecond),
		"hold", receipt.Hold.Round(time.Microsecond), "replayed", receipt.Replayed, "order", id)
	return receipt, nil
}

// Tally counts the current run. It fails as the store does, and with lock.ErrTimeout when a new run is due and does not begin.
func (s *Shop) Tally(ctx context.Context) (tally history.Tally, err error) {
	err = s.retryInNextRun(ctx, func() (err error) {
		tally, err = s.Ledger.Tally(ctx)
		return err
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if here := s.session; err == nil && here != nil {
		tally.InFlight += int64(here.admitted)
		if here.Run.ID == tally.ID {
			tally.MaxInFlight = max(tally.MaxInFlight, here.overlap())
		}
	}
	return tally, err
}

// Order returns an order that the ledger keeps. It fails with ErrInFlight if its sale may be going on, in this replica or in another, and
// with ErrNoOrder if it is not.
func (s *Shop) Order(ctx context.Context, id string) (history.Order, error) {
	here := s.asked.has(id)
	order, err := s.Ledger.Order(ctx, id)
	if !errors.Is(err, ErrNoOrder) {
		return order, err
	}
	if here {
		return order, ErrInFlight
	}
	if err := s.awaitOthers(ctx, id); err != nil {
		return order, err
	}
	return s.Ledger.Order(ctx, id)
}

// awaitOthers waits until each other replica has told what it is doing. It fails with ErrInFlight if one has a sale of this order, or does
// not tell.
func (s *Shop) awaitOthers(ctx context.Context, id string) error {
	before, err := s.Ledger.Look(ctx)
	if err != nil || len(before.Others) == 0 {
		return err
	}
	if err := s.Ledger.Call(ctx); err != nil {
		return err
	}
	wait, stop := lock.WithTimeout(ctx, s.Clock, 2*beatInterval, ErrInFlight)
	defer stop()
	for wait.Err() == nil {
		state, err := s.Ledger.Look(ctx)
		if err != nil {
			return err
		}
		silent := false
		for name, other := range state.Others {
			if slices.Contains(other.Sales, id) {
				return ErrInFlight
			}
			silent = silent || !other.Told.After(before.Others[name].Told)
		}
		if !silent {
			return nil
		}
		_ = lock.Sleep(wait, s.Clock, changeInterval) // the loop looks at wait itself
	}
	return fmt.Errorf("%w: a replica does not tell", ErrInFlight)
}

// Ready fails if no sale could be made now. It writes where a sale does.
func (s *Shop) Ready(ctx context.Context) error {
	_, onNodes, _, err := s.lockInForce(ctx)
	if err == nil {
		err = s.Ledger.Probe(ctx)
	}
	if err == nil && onNodes {
		err = s.Key.Probe(ctx)
	}
	return err
}

// LockState returns the name of the current lock, and the state of its key.
func (s *Shop) LockState(ctx context.Context) (string, KeyState, error) {
	version, onNodes, segments, err := s.lockInForce(ctx)
	if err != nil {
		return "", KeyState{}, err
	}
	state, err := s.Key.Look(ctx, onNodes, segments)
	return version, state, err
}

// ForceUnlock removes the key of the current lock, even if another process holds it, and reports whether there was one.
func (s *Shop) ForceUnlock(ctx context.Context) (bool, error) {
	_, onNodes, segments, err := s.lockInForce(ctx)
	if err != nil {
		return false, err
	}
	return s.Key.Remove(ctx, onNodes, segments)
}

func (s *Shop) lockInForce(ctx context.Context) (version string, onNodes bool, segments int, err error) {
	state, err := s.Ledger.Look(ctx)
	version = s.lockOf(state.Run)
	return version, s.Strategies[version].OnNodes, state.Run.Segments, err
}

// InForce returns what the sales of the current run are made with.
func (s *Shop) InForce(ctx context.Context) (history.Settings, error) {
	state, err := s.Ledger.Look(ctx)
	return s.SettingsOf(state.Run), err
}

// SettingsOf returns what the sales of a run are made with here.
func (s *Shop) SettingsOf(run history.Run) history.Settings { return s.current().Tuned(run.Tuning) }

// retryInNextRun calls try until it does not fail because its run is over, or is being changed; after that it sees that a new run begins.
// When that takes too long, it fails with lock.ErrTimeout, or with what try failed with.
func (s *Shop) retryInNextRun(ctx context.Context, try func() error) error {
	changed := s.changes()
	err := try()
	if !errors.Is(err, ErrRunChanging) && !errors.Is(err, ErrRunOver) {
		return err // nearly always: so a sale needs no timer here
	}
	timeout := s.current().WaitTimeout
	wait, stop := lock.WithTimeout(ctx, s.Clock, timeout, lock.ErrTimeout)
	defer stop()
	for {
		switch {
		case errors.Is(err, ErrRunChanging):
			_ = s.Clock.Wait(wait, changed) // we look at wait below
		case errors.Is(err, ErrRunOver):
			if err := s.reconcile(wait); err != nil && wait.Err() == nil {
				return err
			}
		default:
			return err
		}
		if wait.Err() != nil && errors.Is(err, ErrRunChanging) {
			return lock.WaitError(wait, timeout)
		}
		if wait.Err() != nil {
			return err
		}
		changed = s.changes()
		err = try()
	}
}

// changes returns a channel that is closed when there is something new about the run.
func (s *Shop) changes() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// setSettings puts settings into force, while no sale is in flight.
func (s *Shop) setSettings(settings history.Settings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings = settings
}

func (s *Shop) current() history.Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

func (s *Shop) last() history.Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run
}

// setRun notes the run that is on.
func (s *Shop) setRun(run history.Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run = run
}
