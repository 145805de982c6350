package lab

import (
	"slices"
	"time"

	"lockstep/internal/witness"
)

// Condition is a predicate of the events that the witness has recorded. A scenario waits until a condition is met, and the verdict of a
// run depends on other conditions, which are checked at its end.
type Condition func(events []witness.Event) bool

// matcher is a predicate of one event.
type matcher func(e witness.Event) bool

// ofKind matches events of a kind. who is a sale or a replica; "" matches any.
func ofKind(who string, kind witness.Kind) matcher {
	return func(e witness.Event) bool { return concerns(e, who) && e.Kind == kind }
}

// concerns reports whether an event belongs to the sale or the replica who; "" matches any.
func concerns(e witness.Event, who string) bool {
	return who == "" || e.Sale == who || e.Replica == who
}

// commands matches the commands of a sale or a replica with a verb and an outcome; an empty outcome matches any.
func commands(who string, verb witness.Verb, outcome witness.Outcome) matcher {
	return func(e witness.Event) bool {
		return concerns(e, who) && e.Command != nil && e.Command.Verb == verb && (outcome == "" || e.Command.Outcome == outcome)
	}
}

// some is met when at least one event matches.
func some(matches matcher) Condition {
	return func(events []witness.Event) bool { return slices.ContainsFunc(events, matches) }
}

// hasEvent is met when a sale or a replica has an event of a kind.
func hasEvent(who string, kind witness.Kind) Condition { return some(ofKind(who, kind)) }

// occurred is met when there is an event of a kind.
func occurred(kind witness.Kind) Condition { return hasEvent("", kind) }

// requested is met when a sale has asked for the lock.
func requested(sale string) Condition { return hasEvent(sale, witness.KindAsks) }

// obtained is met when a sale has obtained the lock.
func obtained(sale string) Condition { return hasEvent(sale, witness.KindObtains) }

// ended is met when a sale has ended.
func ended(sale string) Condition { return hasEvent(sale, witness.KindEnds) }

// sentCommand is met when a sale or a replica has sent a command with a verb and an outcome; an empty outcome matches any.
func sentCommand(who string, verb witness.Verb, outcome witness.Outcome) Condition {
	return some(commands(who, verb, outcome))
}

// firstSaleLearnedOfLoss is met when r1#1, the first sale of r1, has learned that it lost its lock.
func firstSaleLearnedOfLoss() Condition { return hasEvent("r1#1", witness.KindLoses) }

// sold is met when a sale, or any sale of a replica, has succeeded.
func sold(who string) Condition {
	return some(func(e witness.Event) bool { return ofKind(who, witness.KindEnds)(e) && e.Error == "" })
}

// failed is met when a sale has ended with an error.
func failed(sale string) Condition {
	return some(func(e witness.Event) bool { return ofKind(sale, witness.KindEnds)(e) && e.Error != "" })
}

// answered is met when Redis has replied to the write of a sale.
func answered(sale string) Condition {
	return some(func(e witness.Event) bool {
		return commands(sale, witness.Writes, "")(e) && e.Command.Outcome != witness.Unknown
	})
}

// either is met when at least one of the conditions is met.
func either(conditions ...Condition) Condition {
	return func(events []witness.Event) bool {
		return slices.ContainsFunc(conditions, func(condition Condition) bool { return condition(events) })
	}
}

// all is met when each of the conditions is met.
func all(conditions ...Condition) Condition {
	return func(events []witness.Event) bool {
		return !slices.ContainsFunc(conditions, func(condition Condition) bool { return !condition(events) })
	}
}

// not is met when the condition is not.
func not(condition Condition) Condition {
	return func(events []witness.Event) bool { return !condition(events) }
}

// atLeast is met when a sale or a replica has n or more events of a kind.
func atLeast(n int, who string, kind witness.Kind) Condition {
	return func(events []witness.Event) bool { return count(events, ofKind(who, kind)) >= n }
}

// count returns the number of events that match.
func count(events []witness.Event, matches matcher) (n int) {
	for _, e := range events {
		if matches(e) {
			n++
		}
	}
	return n
}

// metBefore is met when the events before the first match meet the condition. Without a match, all events are checked.
func metBefore(matches matcher, condition Condition) Condition {
	return func(events []witness.Event) bool {
		if i := slices.IndexFunc(events, matches); i >= 0 {
			events = events[:i]
		}
		return condition(events)
	}
}

// metAfter is met when there is a match, and the events after the first match meet the condition.
func metAfter(matches matcher, condition Condition) Condition {
	return func(events []witness.Event) bool {
		i := slices.IndexFunc(events, matches)
		return i >= 0 && condition(events[i+1:])
	}
}

// followsWithin is met when, after the first event that matches first, the next event that matches then comes in less than d.
func followsWithin(d time.Duration, first, then matcher) Condition {
	return func(events []witness.Event) bool {
		i := slices.IndexFunc(events, first)
		if i < 0 {
			return false
		}
		j := slices.IndexFunc(events[i:], then)
		return j >= 0 && events[i+j].Replied.Sub(events[i].Replied) < d
	}
}

// requestedInTime is met when a sale asked for the lock before the first sale of r1 ended.
func requestedInTime(sale string) Condition {
	return metBefore(ofKind("r1#1", witness.KindEnds), requested(sale))
}

// diedWithLock is met when a replica died after one of its sales had taken the lock.
func diedWithLock(replica string) Condition {
	dies := ofKind(replica, witness.KindDies)
	return all(some(dies), metBefore(dies, either(obtained(replica), sentCommand(replica, witness.Takes, witness.Done))))
}

// releasedInCriticalSection is met when a held command was released to Redis while a sale was in the critical section.
func releasedInCriticalSection(sale string) Condition {
	freed := ofKind("", witness.KindCommandReleased)
	return all(some(freed), metBefore(freed, all(obtained(sale), not(hasEvent(sale, witness.KindLeaves)))))
}

// blockedFor is met when a sale that had asked for the lock neither obtained it nor ended for at least d after r1 first obtained the lock.
func blockedFor(d time.Duration, sale string) Condition {
	first := ofKind("r1#1", witness.KindObtains)
	over := func(e witness.Event) bool {
		return ofKind(sale, witness.KindObtains)(e) || ofKind(sale, witness.KindEnds)(e)
	}
	return all(metBefore(over, requested(sale)), metAfter(first, some(over)), not(followsWithin(d, first, over)))
}

// refused is met when Redis has refused the lock to a sale.
func refused(sale string) Condition { return sentCommand(sale, witness.Takes, witness.Refused) }

// handedOff is met when a replica has released the lock by a command that hands it to the next waiting process.
func handedOff(replica string) Condition {
	return sentCommand(replica, witness.Removes, witness.Passed)
}

// renewed is met when a replica has renewed the lock that it holds.
func renewed(replica string) Condition { return sentCommand(replica, witness.Renews, witness.Done) }

// diedWaiting is met when the replica of a sale died while the sale waited for the lock.
func diedWaiting(sale string) Condition {
	dies := ofKind(witness.ReplicaOf(sale), witness.KindDies)
	return all(some(dies), metBefore(dies, all(refused(sale), not(obtained(sale)))))
}

// renewedInTime is met when the replica of a sale renewed its lock before the sale ended.
func renewedInTime(sale string) Condition {
	return all(ended(sale), metBefore(ofKind(sale, witness.KindEnds), renewed(witness.ReplicaOf(sale))))
}

// soldAfter is met when the last sale of a replica that ended after the first event of a kind succeeded.
func soldAfter(kind witness.Kind, replica string) Condition {
	return metAfter(ofKind("", kind), func(events []witness.Event) bool {
		for _, e := range slices.Backward(events) {
			if ofKind(replica, witness.KindEnds)(e) {
				return e.Error == ""
			}
		}
		return false
	})
}

// Filters of the findings that count as a lab's anomaly.

const (
	lossNoticeSlack = 500 * time.Millisecond // allowed delay until a sale learns that its lock is lost: a busy machine runs timers late
	busySlack       = 2 * time.Second        // extra time allowed on a busy machine
)

// lastsFor accepts findings that lasted longer than d.
func lastsFor(d time.Duration) func(witness.Finding) bool {
	return func(f witness.Finding) bool { return time.Duration(f.Duration) > d }
}

// idleFor accepts a lock that was idle for longer than d, and all other kinds of findings.
func idleFor(d time.Duration) func(witness.Finding) bool {
	return func(f witness.Finding) bool { return f.Kind != witness.LockIdle || time.Duration(f.Duration) > d }
}
