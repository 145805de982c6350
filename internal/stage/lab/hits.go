package lab

import (
	"slices"
	"time"

	"lockstep/internal/watch/witness"
)

// What must have happened for a run to say anything, and what shows that a lock holds.

// askedInTime reports whether a sale asked for the lock before the first sale had done its work.
func askedInTime(sale string) Condition { return before(is("r1#1", witness.KindEnds), asks(sale)) }

// diedWithLock reports whether a replica died when one of its sales had taken the lock.
func diedWithLock(replica string) Condition {
	dies := is(replica, witness.KindDies)
	return all(some(dies), before(dies, either(obtains(replica), does(replica, witness.Takes, witness.Done))))
}

// diedWaiting reports whether the replica of a sale died while the sale waited for the lock.
func diedWaiting(sale string) Condition {
	dies := is(witness.ReplicaOf(sale), witness.KindDies)
	return all(some(dies), before(dies, all(waits(sale), not(obtains(sale)))))
}

// renewedInTime reports whether a replica renewed its lock before one of its sales ended.
func renewedInTime(sale string) Condition {
	return all(ends(sale), before(is(sale, witness.KindEnds), renews(witness.ReplicaOf(sale))))
}

// freedInside reports whether the command that was held went on to Redis while a sale was inside.
func freedInside(sale string) Condition {
	freed := is("", witness.KindFreed)
	return all(some(freed), before(freed, all(obtains(sale), not(moment(sale, witness.KindLeaves)))))
}

// askedAfter reports whether so many sales asked for the lock after one that obtained it in the end.
func askedAfter(sale string, n int) Condition {
	return all(obtains(sale), since(is(sale, witness.KindAsks), atLeast(n, "", witness.KindAsks)))
}

// soldAfter reports whether the last sale of a replica that ended after something had happened was made.
func soldAfter(kind witness.Kind, replica string) Condition {
	return since(is("", kind), func(events []witness.Event) bool {
		for _, e := range slices.Backward(events) {
			if is(replica, witness.KindEnds)(e) {
				return e.Error == ""
			}
		}
		return false
	})
}

// keptOutFor reports whether a sale that had asked neither obtained the lock nor gave up for so long after the first sale had obtained it.
func keptOutFor(d time.Duration, sale string) Condition {
	over := func(e witness.Event) bool { return is(sale, witness.KindObtains)(e) || is(sale, witness.KindEnds)(e) }
	return all(before(over, asks(sale)), func(events []witness.Event) bool {
		took, ended := apart(events, is("r1#1", witness.KindObtains), over)
		return ended && took > d
	})
}

// wentOnWithin reports whether r1 went on so soon after its first sale had obtained the lock.
func wentOnWithin(d time.Duration) Condition {
	return func(events []witness.Event) bool {
		took, went := apart(events, is("r1#1", witness.KindObtains), is("r1", witness.KindGoes))
		return went && took < d
	}
}

// What a finding must be to count.

const (
	noticed = 500 * time.Millisecond // how late a sale may hear that its lock is lost: a busy machine runs its timers late
	busy    = 2 * time.Second        // that a busy machine may take longer
)

// lastsFor blames what went on for longer.
func lastsFor(d time.Duration) func(witness.Finding) bool {
	return func(f witness.Finding) bool { return time.Duration(f.For) > d }
}

// idleFor blames a lock that nobody had for longer, and whatever else was found.
func idleFor(d time.Duration) func(witness.Finding) bool {
	return func(f witness.Finding) bool { return f.Kind != witness.Idle || time.Duration(f.For) > d }
}
