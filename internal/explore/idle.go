package explore

import (
	"slices"
	"time"

	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock/anomaly"
)

// checkIdle looks for a lock that nobody living has, and that those who wait get when time frees it, not before. A holder that died is what
// an expiry is for.
func (f futures) checkIdle(transitions []engine.Transition) {
	if !onlyTime(transitions) {
		return
	}
	waits := slices.IndexFunc(f.Actors(), func(a *engine.Actor) bool { return f.waits(a) && !f.checker.HasLease(a.Index) })
	if waits >= 0 && !f.TimerNext() && !f.used() && f.freed() {
		f.checker.Report(anomaly.Idle, "nobody living holds the lock, and %s waits for time to free it",
			"没有存活的一单持有锁，%s 只能等锁过期", f.Actors()[waits].Name)
	}
}

// waits reports whether an actor that lives waits for the lock.
func (f futures) waits(a *engine.Actor) bool { return f.checker.Waits(a.Index) && !a.Dead() }

// used reports whether a sale has something to do with the lock, beside waiting for it, or died with it, or tried as long as it could to
// give it back.
func (f futures) used() bool {
	holder := f.Holder()
	return holder != nil && holder.Dead() || slices.ContainsFunc(f.Actors(), func(a *engine.Actor) bool {
		if a.Dead() {
			return a.Started() && holder == nil
		}
		return f.checker.IsUsing(a.Index) || f.checker.HasTriedLong(a.Index)
	})
}

// freed reports whether one of those who wait gets the lock once time has passed.
func (f futures) freed() bool {
	return slices.ContainsFunc(f.Actors(), func(a *engine.Actor) bool {
		if !f.waits(a) {
			return false
		}
		later, end := f.again()
		defer end()
		later.Execution.Transitions()
		later.Execution.Apply(engine.Transition{Kind: engine.TimePasses})
		return later.canObtain(a.Index)
	})
}

// mayWait is how long a waiter may sleep although the lock is free: one who waits for messages asks by itself after some time, as a message
// may get lost.
const mayWait = engine.TTL / 4

// checkAsleep looks, when only time can pass, for a waiter that sleeps on for longer than it may, though the lock is free.
func (f futures) checkAsleep(transitions []engine.Transition) {
	has := func(a *engine.Actor) bool { return !a.Dead() && f.checker.IsUsing(a.Index) }
	if !onlyTime(transitions) || slices.ContainsFunc(f.Actors(), has) {
		return
	}
	until := f.Now() + mayWait
	for _, a := range f.Actors() {
		if !f.waits(a) {
			continue
		}
		if why, due := f.Standstill(a); why == engine.WaitsForTime && due > until && f.free() && f.isIdleUntil(until) {
			f.checker.Report(anomaly.Idle, "the lock is free, and %s sleeps for another %v", "锁空闲着，%s 还要再睡 %v", a.Name, due-f.Now())
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

// isIdleUntil reports whether nobody gets the lock until then, and somebody does afterwards.
func (f futures) isIdleUntil(until time.Duration) bool {
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
			return false
		}
		if x.Apply(next[i]); copied.checker.AnyInside() {
			return x.Now() > until
		}
	}
	return false
}
