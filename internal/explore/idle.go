package explore

import (
	"slices"
	"time"

	"lockstep/internal/explore/checker"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock/anomaly"
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
	if waits := f.waitsInVain(); waits != nil && !f.TimerNext() && f.freed() {
		f.checker.Report(anomaly.Idle, checker.WaitsForExpiry, waits.Name)
	}
}

// waitsInVain returns the first actor that waits for a lock that nobody living has, nil if there is none.
func (f futures) waitsInVain() *engine.Actor {
	i := slices.IndexFunc(f.Actors(), func(a *engine.Actor) bool { return f.waits(a) && !f.checker.HasLease(a.Index) })
	if i < 0 || f.used() {
		return nil
	}
	return f.Actors()[i]
}

// waits reports whether an actor that lives waits for the lock.
func (f futures) waits(a *engine.Actor) bool { return f.checker.Waits(a.Index) && !a.Dead() }

// used reports whether a sale has something to do with the lock, beside waiting for it, or died with it, or tried as long as it could to
// give it back, or did so by an expiry.
func (f futures) used() bool {
	holder := f.Holder()
	return holder != nil && holder.Dead() || slices.ContainsFunc(f.Actors(), func(a *engine.Actor) bool {
		if a.Dead() {
			return a.Started() && holder == nil
		}
		return f.checker.IsUsing(a.Index) || f.checker.HasDoneWithIt(a.Index)
	})
}

// freed reports whether one of those who wait gets the lock once time has passed, for longer than they may wait.
func (f futures) freed() bool {
	return slices.ContainsFunc(f.Actors(), func(a *engine.Actor) bool {
		if !f.waits(a) {
			return false
		}
		later, end := f.again()
		defer end()
		later.Transitions()
		later.Execution.Apply(engine.Transition{Kind: engine.TimePasses})
		return later.Now() > f.idleSince+mayWait && later.canObtain(a.Index)
	})
}

// checkAsleep looks, when only time can pass, for a waiter that sleeps on for longer than it may, though the lock is free.
func (f futures) checkAsleep(transitions []engine.Transition) {
	has := func(a *engine.Actor) bool { return !a.Dead() && f.checker.IsUsing(a.Index) }
	if !onlyTime(transitions) || slices.ContainsFunc(f.Actors(), has) {
		return
	}
	for _, a := range f.Actors() {
		if !f.waits(a) {
			continue
		}
		if why, _ := f.Standstill(a); why == engine.WaitsForTime && f.free() {
			if idle := f.idleTime(); idle > mayWait {
				f.checker.Report(anomaly.Idle, checker.SleepsOn, a.Name, idle)
			}
			return
		}
	}
}

func onlyTime(transitions []engine.Transition) bool {
	comes := func(t engine.Transition) bool {
		return t.Progress() || t.Kind == engine.Resumes || t.Kind == engine.Arrives
	}
	return slices.Contains(transitions, engine.Transition{Kind: engine.TimePasses}) && !slices.ContainsFunc(transitions, comes)
}

// free reports whether a newcomer would get the lock at once.
func (f futures) free() bool { return f.obtainable(f.Cluster.Contents(), f.Now(), trying) }

// obtainable reports whether one of the newcomers would have got the lock at once when the servers held this.
func (f futures) obtainable(held []*simredis.State, at time.Duration, newcomer int) bool {
	newcomers, end, err := f.newcomers(held, at, 0)
	if err != nil {
		return false
	}
	defer end()
	return newcomers.canObtain(newcomer) && newcomers.Err() == nil
}

// idleTime returns how long it takes until somebody gets the lock, 0 if nobody does.
func (f futures) idleTime() time.Duration {
	copied, end := f.again()
	defer end()
	x := copied.Execution
	for range patience {
		next := withoutFaults(x)
		i := slices.IndexFunc(next, func(t engine.Transition) bool {
			return t.Kind != engine.TimePasses && t.Kind != engine.PollsOn
		})
		if i < 0 {
			i = slices.Index(next, engine.Transition{Kind: engine.TimePasses})
		}
		if i < 0 {
			break
		}
		if x.Apply(next[i]); copied.checker.AnyInside() {
			return x.Now() - f.Now()
		}
	}
	return 0
}
