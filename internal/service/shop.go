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
	"lockstep/internal/service/history"
	"lockstep/internal/strategy"
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

	slots         Slots
	beatRequested signal // Live should beat at once
	inFlight      inFlightOrders
	beatToken     chan struct{} // holds one token during a heartbeat

	mu           sync.Mutex
	settings     history.Settings
	run          history.Run   // the one that is on, as far as is known here
	changeOwner  string        // the change that is going on, as far as is known here; "" if none is
	lastBeat     time.Time     // when this replica last told what it does
	nextBeat     *sharedBeat   // the heartbeat that has not begun; nil if nobody waits for one
	session      *session      // nil if no sale was admitted since the last change
	stateChanged chan struct{} // closed when there is something new for those who wait to be admitted
}

// prepare makes what a shop needs.
func (s *Shop) prepare(settings history.Settings) {
	s.settings, s.slots, s.inFlight.requests = settings, make(Slots, watchSlots), map[string]int{}
	s.beatRequested, s.beatToken, s.stateChanged = make(signal, 1), make(chan struct{}, 1), make(chan struct{})
}

// Close gives back what the locks keep, and tells the other replicas that this one is gone. Sales must have ended.
func (s *Shop) Close(ctx context.Context) error {
	s.mu.Lock()
	s.changeOwner = "closed"
	s.mu.Unlock()
	s.closeSession(ctx)
	return s.Ledger.Quit(ctx)
}

// OrderRequest is what a buyer asks for.
type OrderRequest struct {
	ID         string // of the order
	Idempotent bool   // the ID is the buyer's own, and the order may have been made; otherwise no other order has it
}

// Sell sells one piece in the current run, or in the next one if that ends first. It fails as Sale.Sell does, but with ErrRunOver and
// lock.ErrTimeout only when no run has taken the sale for too long.
//
// An order that is to be made once, and that the ledger keeps, of this run or of an earlier one, is not sold: its receipt is returned, as
// Replayed. Requests for it may come at the same time, to any replica. An error says only that this request sold nothing, for another one
// may be going on.
func (s *Shop) Sell(ctx context.Context, order OrderRequest) (Receipt, error) {
	done := s.inFlight.add(order.ID)
	defer done()
	owner := lock.Owner(order.ID)
	if order.Idempotent { // there may be several requests
		owner = lock.Owner(s.NewID())
	}
	for next := s.nextRun(); ; owner = lock.Owner(s.NewID()) { // in the next run it is another sale to the lock
		receipt, err := s.sellInCurrentRun(ctx, order, owner)
		if err == nil {
			s.logSale(receipt)
			return receipt, nil
		}
		if err = next.await(ctx, err); err != nil {
			return Receipt{}, err
		}
	}
}

// sellNow sells in the current run.
func (s *Shop) sellInCurrentRun(ctx context.Context, order OrderRequest, owner string) (Receipt, error) {
	session, err := s.admit()
	if err != nil {
		return Receipt{}, err
	}
	defer s.leave(ctx, session)
	if order.Idempotent {
		return s.sellIdempotent(ctx, session.sale, order.ID, owner)
	}
	return session.sale.Sell(ctx, order.ID, owner)
}

// sellOnce looks the order up, and sells if it is not made. The run is known before: what an earlier run can still write is in the ledger
// by then, as the store refuses all else of it; and of this run the store knows the orders itself.
func (s *Shop) sellIdempotent(ctx context.Context, sale *Sale, id, owner string) (Receipt, error) {
	if order, err := s.Ledger.Order(ctx, id); !errors.Is(err, ErrNoOrder) {
		return replayed(order), err
	}
	receipt, err := sale.Sell(ctx, id, owner)
	if errors.Is(err, ErrSoldOut) { // perhaps by this very order, since it was looked up
		if order, found := s.Ledger.Order(ctx, id); !errors.Is(found, ErrNoOrder) {
			return replayed(order), found
		}
	}
	if err == nil && receipt.Owner != owner {
		return replayed(receipt.Order), nil
	}
	return receipt, err
}

// replayed returns the receipt of an order that another request has made.
func replayed(order history.Order) Receipt { return Receipt{Order: order, Replayed: true} }

func (s *Shop) logSale(r Receipt) {
	s.Log.Info("sold", "lock", r.Lock, "before", r.Before, "after", r.After, "wait", r.Wait.Round(time.Microsecond),
		"hold", r.Hold.Round(time.Microsecond), "replayed", r.Replayed, "order", r.ID)
}

// Tally counts the current run. It fails as the store does, and with lock.ErrTimeout when a new run is due and does not begin.
func (s *Shop) Tally(ctx context.Context) (tally history.Tally, err error) {
	for next := s.nextRun(); ; {
		if tally, err = s.Ledger.Tally(ctx); err == nil {
			break
		}
		if err = next.await(ctx, err); err != nil {
			return tally, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if here := s.session; here != nil {
		tally.InFlight += int64(here.admitted)
		if here.sale.Run.ID == tally.ID {
			tally.MaxInFlight = max(tally.MaxInFlight, here.sale.overlap())
		}
	}
	return tally, nil
}

// Order returns an order that the ledger keeps. It fails with ErrInFlight if its sale may be going on, in this replica or in another, and
// with ErrNoOrder if it is not.
func (s *Shop) Order(ctx context.Context, id string) (history.Order, error) {
	inFlightHere := s.inFlight.contains(id)
	order, err := s.Ledger.Order(ctx, id)
	if !errors.Is(err, ErrNoOrder) {
		return order, err
	}
	if inFlightHere {
		return order, ErrInFlight
	}
	if err := s.awaitOtherReplicas(ctx, id); err != nil {
		return order, err
	}
	return s.Ledger.Order(ctx, id)
}

// awaitOthers waits until each other replica has told what it is doing. It fails with ErrInFlight if one has a sale of this order, or does
// not tell.
func (s *Shop) awaitOtherReplicas(ctx context.Context, id string) error {
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
			silent = silent || !other.LastBeat.After(before.Others[name].LastBeat)
		}
		if !silent {
			return nil
		}
		_ = lock.Sleep(wait, s.Clock, changeInterval) // the loop looks at wait itself
	}
	return fmt.Errorf("%w: a replica does not tell", ErrInFlight)
}

// Ready fails if no sale could be made now: it writes where a sale does, and takes and releases a lock as a sale does, by keys of its own.
func (s *Shop) Ready(ctx context.Context) error {
	state, err := s.Ledger.Look(ctx)
	if err == nil {
		err = s.Ledger.Probe(ctx)
	}
	if row, ok := s.Strategies[s.lockOf(state.Run)]; err == nil && ok {
		err = row.Try(ctx, s.Parts)
	}
	return err
}

// LockState returns the name of the current lock, and the state of its key. Where that cannot be read, the name is what is known here.
func (s *Shop) LockState(ctx context.Context) (string, KeyState, error) {
	version, onNodes, segments, err := s.lockInForce(ctx)
	if err != nil {
		return s.lockOf(s.lastRun()), KeyState{}, err
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
func (s *Shop) SettingsInForce(ctx context.Context) (history.Settings, error) {
	state, err := s.Ledger.Look(ctx)
	return s.SettingsOf(state.Run), err
}

// SettingsOf returns what the sales of a run are made with here.
func (s *Shop) SettingsOf(run history.Run) history.Settings {
	return s.currentSettings().Tuned(run.Tuning)
}

// nextRun waits for the run that follows one that has ended, or that is being changed.
type nextRun struct {
	shop     *Shop
	changed  <-chan struct{} // closed when there is something new since the last attempt
	deadline time.Time       // of all waits; zero: none has begun
}

// nextRun is to be called before the first attempt.
func (s *Shop) nextRun() *nextRun { return &nextRun{shop: s, changed: s.stateChanges()} }

// await returns nil when a new run may have begun, if that is why an attempt failed with err, and err if not. When it takes longer than
// the shop's wait for a lock, it fails with lock.ErrTimeout, or with err.
func (n *nextRun) await(ctx context.Context, err error) error {
	changing := errors.Is(err, ErrRunChanging)
	if !changing && !errors.Is(err, ErrRunOver) {
		return err // nearly always: so a sale needs no timer here
	}
	timeout := n.shop.currentSettings().WaitTimeout
	if n.deadline.IsZero() {
		n.deadline = n.shop.Clock.Now().Add(timeout)
	}
	wait, stop := lock.WithTimeout(ctx, n.shop.Clock, n.deadline.Sub(n.shop.Clock.Now()), lock.ErrTimeout)
	defer stop()
	if changing {
		_ = n.shop.Clock.Wait(wait, n.changed) // we look at wait below
	} else if failed := n.shop.reconcile(wait); failed != nil && wait.Err() == nil {
		return failed
	}
	switch {
	case wait.Err() == nil:
		n.changed = n.shop.stateChanges()
		return nil
	case changing:
		return lock.WaitError(wait, timeout)
	default:
		return err
	}
}

// changes returns a channel that is closed when there is something new about the run.
func (s *Shop) stateChanges() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stateChanged
}

// setSettings puts settings into force, while no sale is in flight.
func (s *Shop) setSettings(settings history.Settings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings = settings
}

func (s *Shop) currentSettings() history.Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

func (s *Shop) lastRun() history.Run {
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
