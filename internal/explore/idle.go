package explore

import (
	"slices"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/judge"
	"lockstep/internal/lock"
)

// maxIdle is the longest time that a waiter may sleep although nobody holds the lock. A waiter for messages also asks from time to time,
// because a message may be lost. The definition of anomaly.Idle promises a quarter of the lock's expiry.
const maxIdle = engine.TTL / 4

// checkIdle detects a lock without a live holder that the waiters get only when it expires. Two cases are not anomalies, because an expiry
// exists for them: the holder died, or its Unlock only shortened the expiry.
func (l lookahead) checkIdle(transitions []engine.Transition) {
	if !onlyTimeRemains(transitions) {
		return
	}
	if waiter := l.idleWaiter(); waiter != nil && !l.Engine.IsTimerNext() && l.isFreedByTime() {
		l.judge.Report(anomaly.Idle, judge.WaitsForForeignExpiry, waiter.Name)
	}
}

// idleWaiter returns the first actor that waits for a lock without a live holder, or nil if there is no such actor.
func (l lookahead) idleWaiter() *engine.Actor {
	isWaiter := func(a *engine.Actor) bool { return l.isWaiting(a) && !l.judge.Sale(a.Index).HasLease() }
	i := slices.IndexFunc(l.Engine.Actors(), isWaiter)
	if i < 0 || l.isLockInUse() {
		return nil
	}
	return l.Engine.Actors()[i]
}

// isWaiting reports whether an actor is alive and waits for the lock.
func (l lookahead) isWaiting(a *engine.Actor) bool {
	return l.judge.Sale(a.Index).IsWaiting() && !a.Dead()
}

// isLockInUse reports whether a sale is taking, holding or releasing the lock, died holding the lock, or left the lock to expire.
func (l lookahead) isLockInUse() bool {
	holder := l.Holder()
	return holder != nil && holder.Dead() || slices.ContainsFunc(l.Engine.Actors(), func(a *engine.Actor) bool {
		if a.Dead() {
			return a.Started() && holder == nil
		}
		return l.judge.Sale(a.Index).IsUsingLock() || l.judge.Sale(a.Index).HasLeftLockToExpiry()
	})
}

// isFreedByTime reports whether time, and only more than maxIdle of it, lets a waiter get the lock.
func (l lookahead) isFreedByTime() bool {
	return slices.ContainsFunc(l.Engine.Actors(), func(a *engine.Actor) bool {
		if !l.isWaiting(a) {
			return false
		}
		later, end := l.copyRun()
		defer end()
		later.Engine.Transitions()
		later.Engine.Apply(engine.Transition{Kind: engine.TimePasses})
		return later.Engine.Now() > l.idleSince+maxIdle && later.driveToLock(a.Index)
	})
}

// isAsleepBesideFreeLock reports whether a waiter's timer is due after more than maxIdle, although nobody uses the lock and its key is
// free. The waiter may be right to sleep, because the lock may keep data under another key.
func (l lookahead) isAsleepBesideFreeLock() bool {
	if _, held := l.Engine.Cluster.LockKey(lock.Key); held || l.idleWaiter() == nil {
		return false
	}
	return slices.ContainsFunc(l.Engine.Actors(), func(a *engine.Actor) bool {
		why, due := a.Standstill()
		return l.isWaiting(a) && why == engine.WaitsForTime && due > l.idleSince+maxIdle
	})
}

// onlyTimeRemains reports whether time can pass, and no actor can move, resume or receive a message before it does.
func onlyTimeRemains(transitions []engine.Transition) bool {
	isActivity := func(t engine.Transition) bool {
		return t.IsProgress() || t.Kind == engine.Resumes || t.Kind == engine.Arrives
	}
	return slices.Contains(transitions, engine.Transition{Kind: engine.TimePasses}) && !slices.ContainsFunc(transitions, isActivity)
}
