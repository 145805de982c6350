package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/service/history"
)

const (
	beatInterval = time.Second           // how often a replica says that it lives
	watchSlots   = 8                     // of the connections that the store has, ten a core
	doorInterval = 20 * time.Millisecond // how often a sale looks whether the door is open, and a change whether the last sale has left
)

// Settings are what may change while the shop is open.
type Settings struct {
	Version    string // the lock's name
	Lock       strategy.Parts
	Think      time.Duration
	Nested     int
	Initial    int64                        // stock of a first run
	Strategies map[string]strategy.Strategy // all there are, by name
}

// String returns a text that differs between different settings.
func (s Settings) String() string {
	return fmt.Sprintf("lock %s, ttl %v, retry %v, wait %v, hand-off limit %d, think %v, nested %d, initial %d",
		s.Version, s.Lock.TTL, s.Lock.RetryInterval, s.Lock.WaitTimeout, s.Lock.HandOffLimit, s.Think, s.Nested, s.Initial)
}

// Shop sells, run by run. A run has one lock and one initial stock. Between two runs the door is closed and every sale of every replica
// has left, so that no run mixes versions.
type Shop struct {
	Stock     Stock
	Ledger    Ledger
	Key       LockKey
	Door      lock.Locker // held while a run is changed; Ledger.Enter knows its key
	Clock     lock.Clock
	NewID     func() string
	Log       *slog.Logger
	Observers Observers // of its sales
	Replica   string

	slots    Slots
	mu       sync.Mutex
	settings Settings
	lastRun  history.Run         // the last one seen
	sessions []*session          // of the current run, and of those whose sales have not all ended here
	sales    map[string]*session // this replica's, by id, with their session; nil while a sale asks to be let in
}

// Close gives back what the locks keep, and tells the other replicas that this one is gone. Sales must have ended.
func (s *Shop) Close(ctx context.Context) error {
	s.use(s.current()) // no session outlasts that
	s.closeUnused(ctx)
	return s.Ledger.Quit(ctx)
}

// Live beats until ctx ends.
func (s *Shop) Live(ctx context.Context) {
	for well := true; lock.Sleep(ctx, s.Clock, beatInterval) == nil; {
		err := s.beat(ctx)
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

// beat renews the heartbeat, counts sales as over that could not leave, and looks whether another replica has begun a run: a
// replica without sales does not notice it otherwise.
func (s *Shop) beat(ctx context.Context) error {
	before := s.last()
	run, _, err := s.Ledger.Beat(ctx, s.isHere)
	if err != nil || run.ID == "" {
		return err
	}
	s.sawAfter(before, run)
	s.closeUnused(ctx)
	return nil
}

// Sell sells one piece in the current run, as order id, an id that no other order has. It fails as Sale.Sell does, and with
// lock.ErrTimeout when the door stays closed too long.
func (s *Shop) Sell(ctx context.Context, id string) (Receipt, error) {
	s.asks(id)
	defer s.ends(ctx, id)
	run, err := s.enter(ctx, id)
	if err != nil {
		return Receipt{}, err
	}
	defer s.leave(ctx, id)
	sale, err := s.begins(ctx, id, run)
	if err != nil {
		return Receipt{}, err
	}
	receipt, err := sale.Sell(ctx, id)
	if err != nil {
		return Receipt{}, err
	}
	s.Log.Info("sold", "lock", run.Lock, "before", receipt.Before, "after", receipt.After,
		"wait", receipt.Wait.Round(time.Microsecond), "hold", receipt.Hold.Round(time.Microsecond), "order", id)
	return receipt, nil
}

// Tally counts the current run. It fails as the store does, and with lock.ErrTimeout when a new run is due and the door stays closed too
// long.
func (s *Shop) Tally(ctx context.Context) (tally history.Tally, err error) {
	err = s.whenOpen(ctx, func() (err error) {
		tally, err = s.Ledger.Tally(ctx)
		return err
	})
	return tally, err
}

// Ready fails if no sale could be made now. It writes where a sale does.
func (s *Shop) Ready(ctx context.Context) error {
	_, onNodes, err := s.lockInForce(ctx)
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
	version, onNodes, err := s.lockInForce(ctx)
	if err != nil {
		return "", KeyState{}, err
	}
	state, err := s.Key.Look(ctx, onNodes)
	return version, state, err
}

// ForceUnlock removes the key of the current lock, even if another process holds it, and reports whether there was one.
func (s *Shop) ForceUnlock(ctx context.Context) (bool, error) {
	_, onNodes, err := s.lockInForce(ctx)
	if err != nil {
		return false, err
	}
	return s.Key.Remove(ctx, onNodes)
}

func (s *Shop) lockInForce(ctx context.Context) (version string, onNodes bool, err error) {
	run, err := s.Ledger.Run(ctx)
	version = s.lockOf(run)
	return version, s.current().Strategies[version].OnNodes, err
}

// enter lets a sale into the current run, once the door is open.
func (s *Shop) enter(ctx context.Context, id string) (run history.Run, err error) {
	err = s.whenOpen(ctx, func() (err error) {
		run, err = s.Ledger.Enter(ctx, id)
		return err
	})
	if errors.Is(err, lock.ErrOutcomeUnknown) {
		s.leave(ctx, id) // it may be in
	}
	return run, err
}

// whenOpen calls try until it fails neither with ErrDoorClosed nor with ErrRunChanged, after which it sees that a new run begins. It fails
// with lock.ErrTimeout when that takes too long.
func (s *Shop) whenOpen(ctx context.Context, try func() error) error {
	err := try()
	if !errors.Is(err, ErrDoorClosed) && !errors.Is(err, ErrRunChanged) {
		return err // nearly always: so a sale needs no timer here
	}
	timeout := s.current().Lock.WaitTimeout
	wait, stop := lock.WithTimeout(ctx, s.Clock, timeout, lock.ErrTimeout)
	defer stop()
	for {
		switch {
		case errors.Is(err, ErrDoorClosed):
			_ = lock.Sleep(wait, s.Clock, doorInterval) // we look at wait below
		case errors.Is(err, ErrRunChanged):
			if err := s.reconcile(ctx); err != nil {
				return err
			}
		default:
			return err
		}
		if wait.Err() != nil {
			return lock.WaitError(wait, timeout)
		}
		err = try()
	}
}

// leave counts a sale as over. If it fails, the next heartbeat makes up for it.
func (s *Shop) leave(ctx context.Context, id string) {
	if err := s.Ledger.Leave(context.WithoutCancel(ctx), id); err != nil {
		s.Log.Debug("leave", "sale", id, "error", err)
	}
}

// use puts settings into force. Only sales that are in flight keep to earlier ones.
func (s *Shop) use(settings Settings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings = settings
	for _, session := range s.sessions {
		session.over = true
	}
}

func (s *Shop) current() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

func (s *Shop) last() history.Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastRun
}

func (s *Shop) saw(run history.Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sees(run)
}

// sawAfter notes a run as saw does, if before is still the last one seen: the answer to a look at the run may be late.
func (s *Shop) sawAfter(before, run history.Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lastRun.ID == before.ID {
		s.sees(run)
	}
}

// sees notes the run that is on: the sessions of all others are over. s.mu is held.
func (s *Shop) sees(run history.Run) {
	s.lastRun = run
	for _, session := range s.sessions {
		session.over = session.over || session.Run.ID != run.ID
	}
}
