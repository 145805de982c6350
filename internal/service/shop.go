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

// watchSlots bounds the sales between WATCH and EXEC in this replica. Each occupies a connection of the store; the pool has at least ten
// (redisclient.ConnectionsPerCore), so two remain for all other commands.
const watchSlots = 8

// Shop is the sale service of one replica. It sells in runs; a run has one lock and one initial stock. Between two runs every sale has
// ended and no replica admits one, so that no run mixes locks. Set the exported fields, then call Open before any other method.
type Shop struct {
	Stock     Stock
	Ledger    Ledger
	Key       LockKey
	Barrier   lock.Locker // lock held while the run is changed; its owner is State.Change
	Clock     lock.Clock
	NewID     func() string
	Log       *slog.Logger
	Observers Observers // observers of all sales
	Replica   string    // name of this replica, for messages and the ledger

	Strategies map[string]strategy.Strategy // all strategies by name
	Parts      strategy.Parts               // parts of new locks, except those that Settings determines

	slots         Slots
	beatRequested signal // set: SendHeartbeats sends one at once
	inFlight      inFlightOrders
	beatToken     chan struct{} // holds a token while a heartbeat is under way

	mu           sync.Mutex
	settings     history.Settings
	run          history.Run   // current run, as last seen by this replica
	changeOwner  string        // owner of the change in progress, as last seen by this replica; empty: none
	lastBeat     time.Time     // start of the last successful heartbeat
	nextBeat     *sharedBeat   // next heartbeat, if anybody waits for it; otherwise nil
	session      *session      // nil: no sale was admitted since the last change
	stateChanged chan struct{} // closed and replaced when run, change or session may have changed
}

// prepare initializes the unexported fields.
func (s *Shop) prepare(settings history.Settings) {
	s.settings, s.slots, s.inFlight.requests = settings, make(Slots, watchSlots), map[string]int{}
	s.beatRequested, s.beatToken, s.stateChanged = make(signal, 1), make(chan struct{}, 1), make(chan struct{})
}

// Close closes the locks and deletes this replica's heartbeat. All sales must have ended.
func (s *Shop) Close(ctx context.Context) error {
	s.mu.Lock()
	s.changeOwner = "closed"
	s.mu.Unlock()
	s.closeSession(ctx)
	return s.Ledger.DeleteHeartbeat(ctx)
}

// OrderRequest is a request of a buyer.
type OrderRequest struct {
	ID         string // order id
	Idempotent bool   // true: the ID comes from the buyer, and the order may exist already; false: the ID is new
}

// Sell sells one piece in the current run, or in the next one if the current one ends first. It fails as Sale.Sell does, but with
// ErrRunOver and lock.ErrTimeout only if no run has admitted the sale within the wait timeout.
//
// If an idempotent order is already in the ledger, of this run or of an earlier one, Sell sells nothing and returns its receipt with
// Replayed set. Requests for the same order may come at the same time and to any replica. An error then says only that this request sold
// nothing, because another request may be in flight.
func (s *Shop) Sell(ctx context.Context, order OrderRequest) (Receipt, error) {
	done := s.inFlight.add(order.ID)
	defer done()
	owner := lock.Owner(order.ID)
	if order.Idempotent { // Several requests for this order may be in flight.
		owner = lock.Owner(s.NewID())
	}
	for next := s.newRunWaiter(); ; owner = lock.Owner(s.NewID()) { // A sale in the next run needs a new owner.
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

// sellInCurrentRun sells in the current run.
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

// sellIdempotent looks up the order, and sells only if the ledger does not contain it. The run of the sale is determined before the
// look-up, so the look-up finds every order that an earlier run could still write: the store refuses later writes of earlier runs. Orders
// of the same run are recognized by the store itself.
func (s *Shop) sellIdempotent(ctx context.Context, sale *Sale, id, owner string) (Receipt, error) {
	if order, err := s.Ledger.Order(ctx, id); !errors.Is(err, ErrNoOrder) {
		return replayedReceipt(order), err
	}
	receipt, err := sale.Sell(ctx, id, owner)
	if errors.Is(err, ErrSoldOut) { // This order itself may have bought the last piece since the look-up.
		if order, found := s.Ledger.Order(ctx, id); !errors.Is(found, ErrNoOrder) {
			return replayedReceipt(order), found
		}
	}
	if err == nil && receipt.Owner != owner {
		return replayedReceipt(receipt.Order), nil
	}
	return receipt, err
}

// replayedReceipt returns the receipt of an order that an earlier request made.
func replayedReceipt(order history.Order) Receipt { return Receipt{Order: order, Replayed: true} }

// logSale logs a successful sale.
func (s *Shop) logSale(r Receipt) {
	s.Log.Info("sold", "lock", r.Lock, "before", r.Before, "after", r.After, "wait", r.Wait.Round(time.Microsecond),
		"hold", r.Hold.Round(time.Microsecond), "replayed", r.Replayed, "order", r.ID)
}

// Tally counts the current run, including the sales in flight in this replica. It fails as Ledger.Tally does, and with lock.ErrTimeout if a
// new run is due and does not begin.
func (s *Shop) Tally(ctx context.Context) (tally history.Tally, err error) {
	for next := s.newRunWaiter(); ; {
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

// Order returns an order from the ledger. If the order is missing, it fails with ErrInFlight if its sale may be in flight in any replica,
// and otherwise with ErrNoOrder.
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

// awaitOtherReplicas requests a heartbeat from every other replica and waits for them. It fails with ErrInFlight if a replica has a sale of
// this order in flight, or sends no heartbeat.
func (s *Shop) awaitOtherReplicas(ctx context.Context, id string) error {
	before, err := s.Ledger.ReadState(ctx)
	if err != nil || len(before.Others) == 0 {
		return err
	}
	if err := s.Ledger.RequestHeartbeats(ctx); err != nil {
		return err
	}
	wait, stop := lock.WithTimeout(ctx, s.Clock, 2*beatInterval, ErrInFlight)
	defer stop()
	for wait.Err() == nil {
		state, err := s.Ledger.ReadState(ctx)
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
		_ = lock.Sleep(wait, s.Clock, changeInterval) // The loop condition checks wait.
	}
	return fmt.Errorf("%w: a replica does not answer", ErrInFlight)
}

// CheckReady fails if no sale could be made now. It writes to the store, and takes and releases a lock of the current run's strategy, with
// keys of its own.
func (s *Shop) CheckReady(ctx context.Context) error {
	state, err := s.Ledger.ReadState(ctx)
	if err == nil {
		err = s.Ledger.Probe(ctx)
	}
	if row, ok := s.Strategies[s.lockOf(state.Run)]; err == nil && ok {
		err = row.Try(ctx, s.Parts)
	}
	return err
}

// LockState returns the name of the current lock and the state of its key. If the ledger cannot be read, the name is that of the last known
// run.
func (s *Shop) LockState(ctx context.Context) (string, KeyState, error) {
	version, layout, err := s.lockInForce(ctx)
	if err != nil {
		return s.lockOf(s.lastRun()), KeyState{}, err
	}
	state, err := s.Key.ReadState(ctx, layout)
	return version, state, err
}

// RemoveLock deletes the key of the current lock if holder has it; with an empty holder, whoever has it. It reports whether it has deleted
// one, and fails with ErrNotHolder if somebody else has the lock.
func (s *Shop) RemoveLock(ctx context.Context, holder string) (bool, error) {
	_, layout, err := s.lockInForce(ctx)
	if err != nil {
		return false, err
	}
	return s.Key.Remove(ctx, layout, holder)
}

// lockInForce returns the name of the current lock, and where its keys are.
func (s *Shop) lockInForce(ctx context.Context) (version string, layout LockLayout, err error) {
	state, err := s.Ledger.ReadState(ctx)
	version = s.lockOf(state.Run)
	return version, LockLayout{OnNodes: s.Strategies[version].OnNodes, Segments: state.Run.Segments}, err
}

// SettingsInForce returns the settings of the current run in this replica.
func (s *Shop) SettingsInForce(ctx context.Context) (history.Settings, error) {
	state, err := s.Ledger.ReadState(ctx)
	return s.SettingsOf(state.Run), err
}

// SettingsOf returns the settings of a run in this replica: the configured ones with the tuning of the run.
func (s *Shop) SettingsOf(run history.Run) history.Settings {
	return s.currentSettings().WithTuning(run.Tuning)
}

// runWaiter waits for the next run when the current one has ended or is being changed.
type runWaiter struct {
	shop     *Shop
	changed  <-chan struct{} // closed when the state has changed since the last attempt
	deadline time.Time       // end of all waits together; zero: no wait has begun
}

// newRunWaiter returns a runWaiter. Call it before the first attempt to sell, so that no change of the state is missed.
func (s *Shop) newRunWaiter() *runWaiter { return &runWaiter{shop: s, changed: s.stateChanges()} }

// await waits for the next run after an attempt that failed with err, and returns nil when the attempt should be repeated. It returns err
// at once if a new run would not help. If the wait exceeds the wait timeout for a lock, it fails with lock.ErrTimeout or err.
func (n *runWaiter) await(ctx context.Context, err error) error {
	changing := errors.Is(err, ErrRunChanging)
	if !changing && !errors.Is(err, ErrRunOver) {
		return err // This is the usual case; it creates no timer.
	}
	timeout := n.shop.currentSettings().WaitTimeout
	if n.deadline.IsZero() {
		n.deadline = n.shop.Clock.Now().Add(timeout)
	}
	wait, stop := lock.WithTimeout(ctx, n.shop.Clock, n.deadline.Sub(n.shop.Clock.Now()), lock.ErrTimeout)
	defer stop()
	if changing {
		_ = n.shop.Clock.Wait(wait, n.changed) // The error of wait is checked below.
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

// stateChanges returns a channel that is closed at the next change of the run, of a change in progress, or of the session.
func (s *Shop) stateChanges() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stateChanged
}

// setSettings puts settings into force. No sale may be in flight.
func (s *Shop) setSettings(settings history.Settings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings = settings
}

// currentSettings returns the settings of the configuration.
func (s *Shop) currentSettings() history.Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

// lastRun returns the current run as last seen by this replica.
func (s *Shop) lastRun() history.Run {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run
}

// setRun stores the current run.
func (s *Shop) setRun(run history.Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run = run
}
