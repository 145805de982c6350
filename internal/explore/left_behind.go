package explore

import (
	"lockstep/internal/anomaly"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/judge"
	"lockstep/internal/lock"
)

// checkEnd judges the final state: it reports a lock that nobody can obtain, and sales that have not ended.
func (l lookahead) checkEnd() {
	holder := l.Holder()
	abandoned := holder == nil || !l.IsInCriticalSection(holder)
	if abandoned && l.isLeftBehind() {
		l.judge.Report(anomaly.LeftBehind, judge.LockStaysForever)
	}
	for _, a := range l.Engine.Actors() {
		if !a.Finished() && !a.Dead() {
			l.judge.Report(anomaly.Stuck, judge.SaleBlockedForever, a.Name)
		}
	}
}

// isOrphaned reports whether the remaining keys make the lock unusable: a newcomer that arrives long afterwards, alone, does not obtain it
// until every expiry has passed twice, or a second newcomer obtains it at the same time as the first. Keys whose value contains a deadline,
// and permanent keys that block nobody, do not count. It sets l.undecided if a newcomer reads a clock: then it may be refused only until a
// time that Redis does not show.
func (l lookahead) isOrphaned() bool {
	later, end, err := l.beginProbe(l.Engine.Cluster.Contents(), l.Engine.Now(), engine.Forever)
	if err != nil {
		l.Engine.Fail(err)
		return true
	}
	defer end()
	refused := !later.driveToLockOrExpiry(waitingNewcomer) && later.judge.HasRemains() // without remains, the newcomer gave the lock an expiry
	key, stays := l.Engine.Cluster.LockKey(lock.Key)
	bothObtain := stays && key.IsString() && later.driveToLock(tryingNewcomer)
	if later.Engine.Err() != nil || refused && later.Engine.HasClockReadingWaiter() {
		l.undecided = true
		return false
	}
	return refused || bothObtain
}

// driveToLockOrExpiry lets one actor take steps, and time pass until every expiry has passed twice. It reports whether the actor gets the
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

// driveToLock lets one actor take steps, and no other. It reports whether that actor gets the lock.
func (l lookahead) driveToLock(actor int) (obtained bool) {
	isOwnMove := func(t engine.Transition) bool {
		return t.Kind == engine.Moves && l.Engine.Subject(t).Actor == l.Engine.Actors()[actor]
	}
	return drive(l.Engine, isOwnMove, func() bool { return l.judge.Sale(actor).HasLease() })
}
