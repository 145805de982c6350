package explore

import (
	"slices"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/judge"
	"lockstep/internal/lock"
)

// mayWait is how long a waiter may sleep although nobody has the lock: one who waits for messages asks by itself after some time, as a
// message may get lost.
const mayWait = engine.TTL / 4

// checkIdle looks for a lock that nobody living has, and that those who wait get when time frees it, not before. A holder that died is what
// an expiry is for, and so is one whose Unlock made the lock expire sooner.
func (f futures) checkIdle(transitions []engine.Transition) {
	if !onlyTime(transitions) {
		return
	}
	if waits := f.waitsInVain(); waits != nil && !f.Engine.IsTimerNext() && f.freed() {
		f.judge.Report(anomaly.Idle, judge.WaitsForExpiry, waits.Name)
	}
}

// waitsInVain returns the first actor that waits for a lock that nobody living has, nil if there is none.
func (f futures) waitsInVain() *engine.Actor {
	i := slices.IndexFunc(f.Engine.Actors(), func(a *engine.Actor) bool { return f.waits(a) && !f.judge.Sale(a.Index).HasLease() })
	if i < 0 || f.used() {
		return nil
	}
	return f.Engine.Actors()[i]
}

// waits reports whether an actor that lives waits for the lock.
func (f futures) waits(a *engine.Actor) bool { return f.judge.Sale(a.Index).Waits() && !a.Dead() }

// used reports whether a sale has something to do with the lock, beside waiting for it, or died with it, or tried as long as it could to
// give it back, or did so by an expiry.
func (f futures) used() bool {
	holder := f.Holder()
	return holder != nil && holder.Dead() || slices.ContainsFunc(f.Engine.Actors(), func(a *engine.Actor) bool {
		if a.Dead() {
			return a.Started() && holder == nil
		}
		return f.judge.Sale(a.Index).IsUsing() || f.judge.Sale(a.Index).HasDoneWithIt()
	})
}

// freed reports whether one of those who wait gets the lock once time has passed, for longer than they may wait.
func (f futures) freed() bool {
	return slices.ContainsFunc(f.Engine.Actors(), func(a *engine.Actor) bool {
		if !f.waits(a) {
			return false
		}
		later, end := f.again()
		defer end()
		later.Engine.Transitions()
		later.Engine.Apply(engine.Transition{Kind: engine.TimePasses})
		return later.Engine.Now() > f.idleSince+mayWait && later.canObtain(a.Index)
	})
}

// isAsleepBesideFreeLock reports whether somebody waits for a timer for longer than it may, though nobody uses the lock, and its key is
// free. It may be right to do so, by what the lock keeps elsewhere.
func (f futures) isAsleepBesideFreeLock() bool {
	if _, held := f.Engine.Cluster.LockKey(lock.Key); held || f.waitsInVain() == nil {
		return false
	}
	return slices.ContainsFunc(f.Engine.Actors(), func(a *engine.Actor) bool {
		why, due := a.Standstill()
		return f.waits(a) && why == engine.WaitsForTime && due > f.idleSince+mayWait
	})
}

func onlyTime(transitions []engine.Transition) bool {
	comes := func(t engine.Transition) bool {
		return t.IsProgress() || t.Kind == engine.Resumes || t.Kind == engine.Arrives
	}
	return slices.Contains(transitions, engine.Transition{Kind: engine.TimePasses}) && !slices.ContainsFunc(transitions, comes)
}
