package judge

import (
	"time"

	"lockstep/internal/anomaly"
	"lockstep/internal/strategy"
)

// Lease is an actor's hold on the lock, as the actor can see it.
type Lease interface {
	Token() (token int64, ok bool) // fencing token; false: the lock has none
	IsLost() bool                  // the actor knows that the lock is lost
	IsEnded() bool                 // the actor was told to stop its work, for any reason
	IgnoredCause() error           // cause with which the actor was told to stop its work, if it goes on without noticing; otherwise nil
}

// Sale is the judge's knowledge about one actor: about its current sale, or its last one.
type Sale struct {
	Actor

	index       int           // index of the actor
	owner       string        // owner value passed to Lock
	waiting     bool          // Lock has been called and has not returned
	leases      []Lease       // held leases, outermost first
	unlocking   bool          // Unlock of the outermost lease has been called and has not returned
	unlockStart time.Duration // start of the latest Unlock of an outermost lease
	holderSince int           // logical time at which the sale last became the true holder

	attempt
}

// attempt is the part of a Sale that starts over with each outermost call of Lock.
type attempt struct {
	lostBeforeUnlock bool          // the lock ended before or during the critical section
	enteredAsHolder  bool          // the sale was the true holder when it entered
	holdingKnown     bool          // when the sale entered, Redis showed whether it held the lock
	lostLock         bool          // the lock ended otherwise than by the sale's own Unlock
	releasedLock     bool          // the sale's own Unlock has released the lock
	leftToExpire     bool          // the sale's Unlock has only shortened the lock's expiry, and the lock remains
	unlockTimedOut   bool          // Unlock failed after it had retried for some time
	obstructed       bool          // something may have kept the sale out while it asked for the lock
	position         queuePosition // place in the order in which sales asked for the lock
}

// IsInCriticalSection reports whether the sale believes that it holds the lock, and has not been told otherwise.
func (s *Sale) IsInCriticalSection() bool {
	return len(s.leases) > 0 && !s.Finished() && !s.Dead() && !s.HasLossNotice()
}

// HasLossNotice reports whether the sale knows that its lock is lost.
func (s *Sale) HasLossNotice() bool {
	return len(s.leases) > 0 && s.leases[0].IsLost()
}

// isStopped reports whether the sale was told to stop its work, for any reason.
func (s *Sale) isStopped() bool { return len(s.leases) > 0 && s.leases[0].IsEnded() }

// isDoneWithLock reports whether the sale has no further use for the lock: it is dead, knows of the loss, or has begun to unlock.
func (s *Sale) isDoneWithLock() bool { return s.Dead() || !s.waiting && !s.IsInCriticalSection() }

// IsUsingLock reports whether the sale has a lease, or is in Unlock.
func (s *Sale) IsUsingLock() bool { return s.unlocking || len(s.leases) > 0 }

// hasAbandonedLock reports whether the sale will not even release its lock: it is dead, has finished, or knows of the loss.
func (s *Sale) hasAbandonedLock() bool { return s.Dead() || s.Finished() || s.HasLossNotice() }

// recordEnd records that the sale's lock has ended. byOwnProcess reports whether the sale's own process ended it.
func (s *Sale) recordEnd(byOwnProcess bool) {
	switch {
	case byOwnProcess && s.unlocking:
		s.releasedLock = true
	case s.IsUsingLock():
		s.lostLock = true
	}
}

// Sale returns the judge's knowledge about an actor's sale.
func (st *commonState) Sale(actor int) *Sale { return st.sales[actor] }

// HasLease reports whether the sale has a lease and has not begun to unlock it.
func (s *Sale) HasLease() bool { return len(s.leases) > 0 }

// IsWaiting reports whether the sale is in a call of Lock, which may be a nested one.
func (s *Sale) IsWaiting() bool { return s.waiting }

// HasLeftLockToExpiry reports whether the sale's Unlock retried until its time was up, or only shortened the lock's expiry.
func (s *Sale) HasLeftLockToExpiry() bool { return s.unlockTimedOut || s.leftToExpire }

// IsContended reports whether a sale without a lease waits while another sale is in the critical section.
func (st *commonState) IsContended() bool {
	isWaiter := func(s *Sale) bool { return s.waiting && len(s.leases) == 0 }
	return st.hasSale(isWaiter) && st.hasSale((*Sale).IsInCriticalSection)
}

// RecordAsk records that an actor calls Lock with this owner value.
func (j *Judge) RecordAsk(actor int, owner string) {
	s := j.sales[actor]
	s.waiting = true
	s.owner = owner
	if len(s.leases) > 0 {
		return
	}
	s.attempt = attempt{}
	j.reports.recordObstacles(nil)
}

// RecordEntry records that Lock has returned a lease to an actor. The lock may have been lost before the actor received the lease.
func (j *Judge) RecordEntry(actor int, lease Lease) {
	s := j.sales[actor]
	s.waiting = false
	if len(s.leases) > 0 {
		j.order.checkNested(s, lease)
	} else {
		j.recordOutermostEntry(s, lease)
	}
	s.leases = append(s.leases, lease)
}

// recordOutermostEntry judges a sale that enters the critical section, and records how it holds the lock.
func (j *Judge) recordOutermostEntry(s *Sale, lease Lease) {
	j.adoptLock(s)
	excludesEverybody := j.Scope == strategy.Everybody
	s.enteredAsHolder = j.holder == s.index
	s.lostBeforeUnlock = excludesEverybody && !s.enteredAsHolder && j.heldBy[s.Process]
	s.lostLock = s.lostBeforeUnlock
	s.holdingKnown = s.enteredAsHolder || s.lostBeforeUnlock
	if excludesEverybody && !s.holdingKnown && j.Sender == nil {
		j.excludeOwnership()
	}
	j.order.checkToken(s, lease)
	j.order.countOvertakes(s)
}

// RecordUnlockStart records that an actor calls Unlock. outermost reports whether that releases the actor's outermost lease.
func (j *Judge) RecordUnlockStart(actor int) (outermost bool) {
	s := j.sales[actor]
	j.reports.checkLossNotices()
	outermost = len(s.leases) == 1
	if outermost && s.lostBeforeUnlock && !s.isStopped() && !s.Dead() {
		if cause := s.leases[0].IgnoredCause(); cause != nil {
			j.Report(anomaly.Untold, IgnoresOtherCause, s.Name, cause)
		} else {
			j.Report(anomaly.Untold, WorksWithoutLock, s.Name)
		}
	}
	s.leases = s.leases[:len(s.leases)-1]
	if outermost {
		s.unlocking = true
		s.unlockStart = j.Driver.Now()
	}
	return outermost
}
