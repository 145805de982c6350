package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/service/history"
	"lockstep/internal/strategy"
)

// Open joins the current run. If no other replica is alive, or there is no run, it starts a run with the lock of the settings. The initial
// stock is the one set by hand in Redis, or else that of the settings.
func (s *Shop) Open(ctx context.Context, settings history.Settings) error {
	s.prepare(settings)
	run, joined, err := s.join(ctx)
	if err != nil {
		return err
	}
	if joined {
		s.setRun(run)
		_, err := s.beat(ctx)
		return err
	}
	return s.change(ctx, func(ctx context.Context, _, next history.Run) (history.Run, error) {
		run, joined, err := s.join(ctx) // Another replica may have started a run while this one waited for the barrier.
		if err != nil || joined {
			return run, err
		}
		next.Tuning, next.Lock = history.Tuning{}, settings.Lock
		next.Initial, _, err = s.manualStock(ctx)
		if errors.Is(err, ErrBadStock) {
			s.Log.Warn("starting with the configured stock", "error", err)
			err = nil
		}
		return next, err
	})
}

// manualStock returns the stock that was set by hand; without one, the initial stock of the settings. gone reports whether the stock is
// missing in Redis.
func (s *Shop) manualStock(ctx context.Context) (stock int64, gone bool, err error) {
	tally, err := s.Ledger.Tally(ctx)
	switch gone = errors.Is(err, ErrForgotten); {
	case gone, err == nil:
		return s.currentSettings().Initial, gone, nil
	case errors.Is(err, ErrRunChanged):
		return tally.Remaining, false, nil
	}
	return s.currentSettings().Initial, false, err
}

// join returns the current run if there is one and another replica is alive. The other replicas continue to sell.
func (s *Shop) join(ctx context.Context) (run history.Run, joined bool, err error) {
	alone, err := s.checkAlone(ctx)
	if err != nil || alone {
		return history.Run{}, false, err
	}
	state, err := s.Ledger.ReadState(ctx)
	if run = state.Run; err != nil || run.ID == "" {
		return run, false, err
	}
	if settings := s.currentSettings(); run.Lock != settings.Lock {
		s.Log.Warn("other replicas are selling with another lock: joining them", "lock", run.Lock, "configured", settings.Lock)
	}
	return run, true, nil
}

// checkAlone waits until it is certain whether another replica is alive, and reports whether none is. A dead replica counts as alive until
// its last heartbeat expires; a new heartbeat shows that it is alive.
func (s *Shop) checkAlone(ctx context.Context) (bool, error) {
	first, err := s.Ledger.ReadState(ctx)
	if err == nil && len(first.Others) > 0 {
		err = s.Ledger.RequestHeartbeats(ctx)
	}
	began, warned := s.Clock.Now(), false
	for state := first; err == nil && len(state.Others) > 0; state, err = s.Ledger.ReadState(ctx) {
		if !warned && s.Clock.Now().Sub(began) > beatInterval {
			s.Log.Warn("waiting until silent replicas count as dead: they did not shut down cleanly",
				"replicas", replicaNames(state.Others), "lifetime", ReplicaLifetime)
			warned = true
		}
		for name, other := range state.Others {
			if before, ok := first.Others[name]; !ok || other.LastBeat.After(before.LastBeat) {
				return false, nil
			}
		}
		if err := lock.Sleep(ctx, s.Clock, beatInterval/10); err != nil {
			return false, err
		}
	}
	return err == nil, err
}

// replicaNames returns the names of replicas for messages, sorted.
func replicaNames(replicas map[string]Replica) (all []string) {
	for instance, replica := range replicas {
		all = append(all, cmp.Or(replica.Name, instance))
	}
	slices.Sort(all)
	return all
}

// SetStock starts a new run with this initial stock, and returns its tally.
func (s *Shop) SetStock(ctx context.Context, stock int64) (history.Tally, error) {
	err := s.change(ctx, func(_ context.Context, _, next history.Run) (history.Run, error) {
		next.Initial = stock
		return next, nil
	})
	if err != nil {
		return history.Tally{}, err
	}
	tally, err := s.Tally(ctx)
	if err != nil { // The run has begun even if it cannot be counted.
		s.Log.Warn("a run has begun, but cannot be counted", "error", err)
		run := s.lastRun()
		return history.Tally{Run: run, Remaining: run.Initial}, nil
	}
	return tally, nil
}

// SetLock switches every replica to the lock with this name, and starts a new run with the initial stock of the previous one. It does
// nothing if the run has that lock already.
func (s *Shop) SetLock(ctx context.Context, version string) error {
	if state, err := s.Ledger.ReadState(ctx); err != nil || state.Run.Lock == version {
		return err
	}
	return s.change(ctx, func(_ context.Context, run, next history.Run) (history.Run, error) {
		if run.Lock == version {
			return run, nil
		}
		next.Lock = version
		return next, nil
	})
}

// Tune starts a new run with a tuning for all replicas, and the lock and the initial stock of the previous run. Later runs keep the tuning
// until the configuration of a replica changes or all replicas have ended.
func (s *Shop) Tune(ctx context.Context, tuning history.Tuning) error {
	return s.change(ctx, func(_ context.Context, _, next history.Run) (history.Run, error) {
		next.Tuning = tuning
		return next, nil
	})
}

// Apply puts new settings into force and starts a new run with them, unless the current run began with the same settings: if several
// replicas read the same changed file, the first starts the run. The run keeps the lock and the initial stock of the current one unless the
// settings change them.
func (s *Shop) Apply(ctx context.Context, settings history.Settings) error {
	old := s.currentSettings()
	return s.change(ctx, func(_ context.Context, run, next history.Run) (history.Run, error) {
		if run.Settings == settings {
			return run, nil
		}
		if settings.Lock != old.Lock {
			next.Lock = settings.Lock
		}
		if settings.Initial != old.Initial {
			next.Initial = settings.Initial
		}
		next.Tuning, next.Settings = history.Tuning{}, settings
		return next, nil
	}, func() { s.setSettings(settings) })
}

// reconcile updates the current run by a heartbeat. If the stock was set by hand or is missing, it starts a new run, unless another replica
// is doing so.
func (s *Shop) reconcile(ctx context.Context) error {
	if _, err := s.beat(ctx); err != nil {
		return err
	}
	if _, err := s.Ledger.Tally(ctx); !errors.Is(err, ErrRunChanged) {
		return err // Another run has begun, or the key does not hold a valid stock for a new run.
	}
	owner := lock.Owner(s.NewID())
	lease, err := s.Barrier.TryLock(ctx, owner)
	if errors.Is(err, lock.ErrNotObtained) {
		return lock.Sleep(ctx, s.Clock, changeInterval)
	}
	if err != nil {
		return err
	}
	err = s.changeWithBarrier(ctx, lease, owner, func(ctx context.Context, run, next history.Run) (history.Run, error) {
		if _, err := s.Ledger.Tally(ctx); !errors.Is(err, ErrRunChanged) {
			return run, err // Another replica was faster.
		}
		stock, gone, err := s.manualStock(ctx)
		if next.Initial, next.Forgot = stock, next.Forgot || gone; err == nil && next.Forgot {
			s.Log.Warn("redis holds no run, or no stock: it came back empty, or its keys were deleted", "lock", next.Lock)
		}
		return next, err
	})
	if errors.Is(err, ErrRunOver) { // Redis has lost the barrier too, and another replica started a run.
		return nil
	}
	return err
}

// decision decides which run follows the current one: it returns current to keep it, or next, possibly modified. next is a new run with the
// lock, the tuning and the initial stock of current.
type decision func(ctx context.Context, current, next history.Run) (history.Run, error)

// change takes the barrier, waits until no sale is in flight, and starts the run that decide returns, unless it is the current one. It
// calls the functions finish before it releases the barrier.
func (s *Shop) change(ctx context.Context, decide decision, finish ...func()) error {
	for attempt := 1; ; attempt++ {
		owner := lock.Owner(s.NewID())
		lease, err := s.Barrier.Lock(ctx, owner)
		if err != nil {
			return fmt.Errorf("raising the barrier: %w", err)
		}
		err = s.changeWithBarrier(ctx, lease, owner, decide, finish...)
		if !errors.Is(err, ErrRunOver) || attempt == maxChangeAttempts {
			return err
		}
	}
}

// maxChangeAttempts bounds the attempts of a change. An attempt fails if Redis loses the barrier and another replica starts a run
// meanwhile; that is rare, so three attempts suffice.
const maxChangeAttempts = 3

// changeWithBarrier is change with the barrier held by owner. It releases the barrier and notifies the other replicas.
func (s *Shop) changeWithBarrier(ctx context.Context, barrier *lock.Lease, owner string, decide decision, finish ...func()) error {
	defer func() {
		if err := barrier.Unlock(ctx); err != nil {
			s.Log.Warn("lowering the barrier", "error", err)
		}
		_, beat := s.beat(context.WithoutCancel(ctx))
		if err := errors.Join(beat, s.Ledger.RequestHeartbeats(context.WithoutCancel(ctx))); err != nil {
			s.Log.Warn("notifying the other replicas that the barrier is down", "error", err)
		}
	}()
	ctx = barrier.Context()
	if err := s.drain(ctx, owner); err != nil {
		return fmt.Errorf("waiting for the sales in flight: %w", err)
	}
	state, err := s.Ledger.ReadState(ctx)
	if err != nil {
		return err
	}
	run := state.Run
	following, err := decide(ctx, run, s.successorOf(run))
	if err != nil {
		return err
	}
	if following != run {
		following.Segments = 0
		if s.Strategies[following.Lock].Update == strategy.Segmented {
			following.Segments = following.Settings.Segments
		}
		if err := s.Ledger.Start(ctx, run, following); err != nil {
			return err
		}
		s.setRun(following)
		s.Log.Info("new run", "lock", following.Lock, "stock", following.Initial, "run", following.ID)
	}
	for _, f := range finish {
		f()
	}
	return nil
}

// LongestSale returns an upper bound for the duration of a sale in flight with the settings in force.
func (s *Shop) LongestSale() time.Duration {
	run := s.lastRun()
	settings := s.SettingsOf(run)
	longest := settings.LongestSale()
	if run.Segments > 0 { // A sale that finds a segment sold out just before the timeout waits for the next segment, too.
		longest += settings.WaitTimeout
	}
	return longest
}

// drain waits until every live replica has drained for the change of this owner. A replica has drained when it admits no sale and none is
// in flight.
func (s *Shop) drain(ctx context.Context, owner string) error {
	longest := s.LongestSale()
	wait, stop := lock.WithTimeout(ctx, s.Clock, longest, lock.ErrTimeout)
	defer stop()
	if err := s.Ledger.RequestHeartbeats(ctx); err != nil {
		return err
	}
	for logged := false; wait.Err() == nil; logged = true {
		state, err := s.beat(ctx)
		if err != nil {
			return err
		}
		here := s.ownState()
		inFlight, drained := here.Admitted, here.Drained == owner
		for _, other := range state.Others {
			inFlight += other.Admitted
			drained = drained && other.Drained == owner
		}
		if drained {
			return nil
		}
		if state.Change != owner {
			return fmt.Errorf("%w: Redis has lost the barrier", ErrRunOver)
		}
		if !logged {
			s.Log.Info("the barrier is up: waiting for the sales in flight", "sales", inFlight)
		}
		_ = lock.Sleep(wait, s.Clock, changeInterval) // The loop condition checks wait.
	}
	return lock.WaitError(wait, longest)
}

// successorOf returns a new run with the lock, the tuning and the initial stock of run. If run is zero, the lock and the tuning are those
// of the run last seen, and the stock is that of the settings.
func (s *Shop) successorOf(run history.Run) history.Run {
	settings := s.currentSettings()
	if run.ID == "" {
		run.Tuning, run.Initial = s.lastRun().Tuning, settings.Initial
	}
	return history.Run{
		ID: s.NewID(), Lock: s.lockOf(run), Initial: run.Initial, Settings: settings, Tuning: run.Tuning,
		Forgot: run.ID == "" && s.lastRun().ID != "",
	}
}

// lockOf returns the lock of run; if run is zero, the lock of the run last seen, or else that of the settings.
func (s *Shop) lockOf(run history.Run) string {
	return cmp.Or(run.Lock, s.lastRun().Lock, s.currentSettings().Lock)
}
