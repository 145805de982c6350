package judge

import (
	"errors"
	"slices"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// reportChecker judges what a lock reports to its callers: the results of Lock and Unlock, and notices of loss.
type reportChecker struct{ *ownerTracker }

// RecordUnlockEnd records the result of an Unlock. outermost, the result of RecordUnlockStart, is false for the Unlock of a nested lease.
func (j *Judge) RecordUnlockEnd(actor int, outermost bool, err error) {
	s := j.sales[actor]
	if outermost {
		s.unlocking = false
		s.unlockTimedOut = err != nil && j.Driver.Now() > s.unlockStart
	}
	notHeld := notHeldError(err)
	switch {
	case s.Dead() || j.Scope != strategy.Everybody:
	case err == nil && outermost && s.lostLock && !s.releasedLock:
		j.Report(anomaly.FalseWord, UnlockHidesLoss, s.Name)
	case err == nil && outermost && s.leftToExpire:
		j.Report(anomaly.FalseWord, UnlockLeavesLock, s.Name)
	case notHeld != nil && !s.lostLock && j.reports.isHeldThroughout(s):
		j.Report(anomaly.FalseWord, UnlockDeniesHolding, s.Name, notHeld)
	}
}

// notHeldError returns the error in err's chain that denies that the lock was held; nil if there is none.
func notHeldError(err error) error {
	for _, notHeld := range []error{lock.ErrExpired, lock.ErrNotOwner} {
		if errors.Is(err, notHeld) {
			return notHeld
		}
	}
	return nil
}

// isHeldThroughout reports whether a sale that is not known to have lost its lock certainly held it until Unlock.
func (r *reportChecker) isHeldThroughout(s *Sale) bool {
	excuses := r.Driver.Excuses()
	if excuses.CommandResent {
		return false // the first copy of the command may have released the lock
	}
	return s.holdingKnown || !excuses.FaultHappened && !excuses.TimePassed
}

// checkLossNotices detects holders that were told of a loss although they have not lost the lock and no fault has happened.
func (r *reportChecker) checkLossNotices() {
	for i, s := range r.sales {
		if s.HasLossNotice() && !s.lostLock && r.holder == i && !s.Dead() && !r.Driver.Excuses().FaultHappened {
			r.Report(anomaly.FalseWord, FalseLossNotice, s.Name)
		}
	}
}

// RecordRefusal records that Lock has failed with err. clientGone reports whether the actor's client had gone away.
func (j *Judge) RecordRefusal(actor int, err error, clientGone bool) {
	s := j.sales[actor]
	s.waiting = false
	switch {
	case s.Dead():
	case errors.Is(err, lock.ErrNotObtained) && s.TriesOnce && len(s.leases) == 0 && !s.obstructed:
		if j.Driver.Excuses().FaultHappened {
			j.ExcludeAnomalies(anomaly.FalseWord) // a fault may have kept the actor out
		}
		j.Report(anomaly.FalseWord, FalseRefusal, s.Name)
	case errors.Is(err, lock.ErrCancelled) && !clientGone:
		j.Report(anomaly.FalseWord, FalseCancellation, s.Name)
	}
}

// recordObstacles records, for every actor in a TryLock, whether something may keep the actor out: another sale, or a key of the lock. A
// key that the actor's own command has just written does not count; by is the sale whose command that was, or nil.
func (r *reportChecker) recordObstacles(by *Sale) {
	for _, s := range r.sales {
		if !s.TriesOnce || !s.waiting || s.obstructed {
			continue
		}
		isRival := func(other *Sale) bool { return other != s && (other.waiting || other.IsUsingLock()) && !other.Dead() }
		hasLockKeys := func(m *simredis.State) bool { return len(m.Transient) > 0 }
		s.obstructed = r.hasSale(isRival) || by != s && slices.ContainsFunc(r.lockServers(), hasLockKeys)
	}
}
