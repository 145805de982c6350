package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"lockstep/internal/history"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

const (
	beatInterval = time.Second           // how often a replica says that it lives
	maxWatches   = 8                     // of the connections that the store has, ten a core
	doorInterval = 20 * time.Millisecond // how often one looks whether the door is open, or the last sale has left
)

// Settings are what may change while the shop is open.
type Settings struct {
	Version  string // the lock's name
	Lock     strategy.Parts
	Think    time.Duration
	Nested   int
	Initial  int64                        // stock of a first run
	Retry    Retry                        // of sales that do not wait for a lock
	Strategy map[string]strategy.Strategy // all there are, by name
}

// String tells one set of settings from another.
func (s Settings) String() string {
	return fmt.Sprintf("lock %s, ttl %v, retry %v, wait %v, hand-off limit %d, think %v, nested %d, initial %d",
		s.Version, s.Lock.TTL, s.Lock.RetryInterval, s.Lock.WaitTimeout, s.Lock.HandOffLimit, s.Think, s.Nested, s.Initial)
}

// Shop sells, run by run. A run has one lock and one initial stock; between two runs the door is closed and every sale
// has left, in all replicas, so that no run mixes versions.
type Shop struct {
	Stock   Stock
	Ledger  Ledger
	Key     LockKey
	Door    lock.Locker // held while a run is changed; Ledger.Enter knows its key
	Clock   lock.Clock
	NewID   func() string
	Log     *slog.Logger
	Watch   Observer
	Replica string

	mu       sync.Mutex
	settings Settings
	lockers  map[string]*runLocker // by id of the run
	lastRun  history.Run           // that was seen
	watches  Watches
	inside   map[string]bool // this replica's sales: asking to be let in, or (true) in flight
}

// Close tells the other replicas that this one is gone. Sales must have ended.
func (s *Shop) Close(ctx context.Context) error { return s.Ledger.Quit(ctx) }

// Live beats until ctx ends.
func (s *Shop) Live(ctx context.Context) {
	for well := true; lock.Sleep(ctx, s.Clock, beatInterval) == nil; {
		err := s.Ledger.Beat(ctx)
		if err == nil {
			_, err = s.Ledger.Forget(ctx, s.isInside)
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil && well {
			s.Log.Error("heartbeat", "error", err)
		} else if err == nil && !well {
			s.Log.Info("heartbeat: redis is back")
		}
		well = err == nil
	}
}

// Sell sells one piece in the run that is on, as order id, which is like no other. Beside what Sale.Sell says, it fails with
// lock.ErrTimeout when the door stays closed too long.
func (s *Shop) Sell(ctx context.Context, id string) (Receipt, error) {
	s.enterHere(id)
	defer s.leaveHere(id)
	run, err := s.enter(ctx, id)
	if err != nil {
		return Receipt{}, err
	}
	defer s.leave(ctx, id)

	locker, giveBack, err := s.lockerOf(run)
	if err != nil {
		return Receipt{}, err
	}
	defer giveBack()
	settings := s.current()
	receipt, err := Sale{
		Locker: locker, Stock: s.Stock, Clock: s.Clock, Log: s.Log, Watch: s.Watch, Replica: s.Replica,
		Think: settings.Think, Nested: settings.Nested, Update: settings.Strategy[run.Lock].Update, Retry: settings.Retry,
		Watches: s.watches,
	}.Sell(ctx, run, id)
	if err != nil {
		return Receipt{}, err
	}
	s.Log.Info("sold", "lock", run.Lock, "before", receipt.Before, "after", receipt.After,
		"wait", receipt.Wait.Round(time.Microsecond), "hold", receipt.Hold.Round(time.Microsecond), "order", id)
	return receipt, nil
}

// Tally counts the run that is on. Beside the store's errors, it fails with lock.ErrTimeout when a new run is due and the door
// stays closed too long.
func (s *Shop) Tally(ctx context.Context) (history.Tally, error) {
	settings := s.current()
	wait, stop := lock.WithTimeout(ctx, s.Clock, settings.Lock.WaitTimeout, lock.ErrTimeout)
	defer stop()
	for wait.Err() == nil {
		tally, err := s.Ledger.Tally(ctx)
		if !errors.Is(err, ErrRunChanged) {
			return tally, err
		}
		if err := s.reconcile(ctx); err != nil {
			return history.Tally{}, err
		}
	}
	return history.Tally{}, lock.WaitError(wait, settings.Lock.WaitTimeout)
}

// LockState gives the name of the lock that is on, and its key.
func (s *Shop) LockState(ctx context.Context) (string, KeyState, error) {
	run, err := s.Ledger.Run(ctx)
	if err != nil {
		return "", KeyState{}, err
	}
	version := s.lockOf(run)
	state, err := s.Key.Look(ctx, s.onNodes(version))
	return version, state, err
}

// ForceUnlock removes the key of the lock that is on, whoever holds it, and reports whether there was one.
func (s *Shop) ForceUnlock(ctx context.Context) (bool, error) {
	run, err := s.Ledger.Run(ctx)
	if err != nil {
		return false, err
	}
	return s.Key.Remove(ctx, s.onNodes(s.lockOf(run)))
}

func (s *Shop) onNodes(version string) bool {
	settings := s.current()
	return settings.Strategy[version].OnNodes
}

// enter waits until the door is open and goes in.
func (s *Shop) enter(ctx context.Context, id string) (history.Run, error) {
	settings := s.current()
	wait, stop := lock.WithTimeout(ctx, s.Clock, settings.Lock.WaitTimeout, lock.ErrTimeout)
	defer stop()
	for wait.Err() == nil {
		run, err := s.Ledger.Enter(ctx, id)
		switch {
		case err == nil:
			s.saw(run)
			s.isIn(id)
			return run, nil
		case errors.Is(err, ErrRunChanged):
			if err := s.reconcile(ctx); err != nil {
				return history.Run{}, err
			}
		case errors.Is(err, ErrDoorClosed):
			_ = lock.Sleep(wait, s.Clock, doorInterval) // the loop looks at wait itself
		default:
			if errors.Is(err, lock.ErrOutcomeUnknown) {
				s.leave(ctx, id) // it may be in
			}
			return history.Run{}, err
		}
	}
	return history.Run{}, lock.WaitError(wait, settings.Lock.WaitTimeout)
}

// leave ends a sale's time in the run. Should it fail, the next heartbeat makes up for it.
func (s *Shop) leave(ctx context.Context, id string) {
	if err := s.Ledger.Leave(context.WithoutCancel(ctx), id); err != nil {
		s.Log.Debug("leave", "sale", id, "error", err)
	}
}

func (s *Shop) use(settings Settings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings, s.lockers = settings, map[string]*runLocker{}
}

func (s *Shop) current() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

func (s *Shop) saw(run history.Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastRun = run
}

func (s *Shop) enterHere(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inside[id] = false
}

func (s *Shop) isIn(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inside[id] = true
}

func (s *Shop) leaveHere(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.inside, id)
}

func (s *Shop) isInside(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, inside := s.inside[id]
	return inside
}

func (s *Shop) inFlightHere() (n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, in := range s.inside {
		if in {
			n++
		}
	}
	return n
}
