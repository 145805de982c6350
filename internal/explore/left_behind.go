package explore

import (
	"lockstep/internal/anomaly"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/judge"
	"lockstep/internal/lock"
)

// checkEnd judges what remains when nothing more will happen: a lock that nobody can obtain, and sales that have not ended.
func (l lookahead) checkEnd() {
	holder := l.Holder()
	abandoned := holder == nil || !l.IsInCriticalSection(holder)
	if abandoned && l.detectLeftBehind() {
		l.judge.Report(anomaly.LeftBehind, judge.LockStaysForever)
	}
	for _, a := range l.Engine.Actors() {
		if !a.Finished() && !a.Dead() {
			l.judge.Report(anomaly.Stuck, judge.SaleBlockedForever, a.Name)
		}
	}
}

// detectOrphanedLock reports whether a lock that remains is useless: a newcomer that arrives long afterwards, with nobody else about, and
// waits until every expiry has passed twice, does not get it. What a lock leaves keeps nobody out if the lock itself knows when it expires,
// or if its keys are registers that stay. A lock that excludes nobody any more is useless as well: then a second newcomer obtains it beside
// the first. It sets undecided if a newcomer may be refused because of its name, or for a time that Redis does not show.
func (l lookahead) detectOrphanedLock() bool {
	later, end, err := l.newcomers(l.Engine.Cluster.Contents(), l.Engine.Now(), engine.Forever)
	if err != nil {
		l.Engine.Fail(err)
		return true
	}
	defer end()
	refused := !later.driveToLockOrExpiry(waitingNewcomer) && later.judge.HasRemains() // no remains: the newcomer gave the lock an expiry
	key, stays := l.Engine.Cluster.LockKey(lock.Key)
	bothObtain := stays && key.IsString() && later.driveToLock(tryingNewcomer)
	if later.Engine.Err() != nil || refused && later.Engine.HasClockReadingWaiter() {
		l.undecided = true
		return false
	}
	return refused || bothObtain
}

// driveToLockOrExpiry moves an actor on, and lets time pass until every expiry has passed twice. It reports whether the actor gets the
// lock.
func (l lookahead) driveToLockOrExpiry(actor int) (obtained bool) {
	for deadline := expiryDeadline(l.Engine); !l.driveToLock(actor); {
		if l.Engine.Now() >= deadline {
			return false
		}
		l.Engine.Apply(engine.Transition{Kind: engine.TimePasses})
	}
	return true
}

// driveToLock moves one actor on, and no other. It reports whether that actor gets the lock.
func (l lookahead) driveToLock(actor int) (obtained bool) {
	isOwnMove := func(t engine.Transition) bool {
		return t.Kind == engine.Moves && l.Engine.Subject(t).Actor == l.Engine.Actors()[actor]
	}
	return drive(l.Engine, isOwnMove, func() bool { return l.judge.Sale(actor).HasLease() })
}
