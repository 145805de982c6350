package lab

import (
	"slices"
	"time"

	"lockstep/internal/witness"
)

// Condition reports whether something is so, by the events that the witness has seen. A scenario waits for one, and a verdict asks for it
// when the scenario has ended.
type Condition func(events []witness.Event) bool

type match func(e witness.Event) bool

// is picks the events of that kind; of a sale, of a replica, or, with "", of anybody.
func ofKind(who string, kind witness.Kind) match {
	return func(e witness.Event) bool { return concerns(e, who) && e.Kind == kind }
}

// of reports whether an event is of a sale or of a replica; "" is anybody.
func concerns(e witness.Event, who string) bool {
	return who == "" || e.Sale == who || e.Replica == who
}

// commands picks the commands of a sale or a replica with that verb and, unless it is empty, that outcome.
func commands(who string, verb witness.Verb, outcome witness.Outcome) match {
	return func(e witness.Event) bool {
		return concerns(e, who) && e.Command != nil && e.Command.Verb == verb && (outcome == "" || e.Command.Outcome == outcome)
	}
}

func some(such match) Condition {
	return func(events []witness.Event) bool { return slices.ContainsFunc(events, such) }
}

func moment(who string, kind witness.Kind) Condition { return some(ofKind(who, kind)) }
func occurred(kind witness.Kind) Condition           { return moment("", kind) }
func requested(sale string) Condition                { return moment(sale, witness.KindAsks) }
func obtained(sale string) Condition                 { return moment(sale, witness.KindObtains) }
func ended(sale string) Condition                    { return moment(sale, witness.KindEnds) }

func did(who string, verb witness.Verb, outcome witness.Outcome) Condition {
	return some(commands(who, verb, outcome))
}

// firstLearnsOfLoss reports whether the first sale was told that it has lost its lock.
func firstLearnsOfLoss() Condition { return moment("r1#1", witness.KindLoses) }

// sold reports whether a sale was made; of a replica, whether any was.
func sold(who string) Condition {
	return some(func(e witness.Event) bool { return ofKind(who, witness.KindEnds)(e) && e.Error == "" })
}

func failed(sale string) Condition {
	return some(func(e witness.Event) bool { return ofKind(sale, witness.KindEnds)(e) && e.Error != "" })
}

// answered reports whether the write of a sale got a reply.
func answered(sale string) Condition {
	return some(func(e witness.Event) bool {
		return commands(sale, witness.Writes, "")(e) && e.Command.Outcome != witness.Unknown
	})
}

func either(conditions ...Condition) Condition {
	return func(events []witness.Event) bool {
		return slices.ContainsFunc(conditions, func(condition Condition) bool { return condition(events) })
	}
}

func all(conditions ...Condition) Condition {
	return func(events []witness.Event) bool {
		return !slices.ContainsFunc(conditions, func(condition Condition) bool { return !condition(events) })
	}
}

func not(condition Condition) Condition {
	return func(events []witness.Event) bool { return !condition(events) }
}

func atLeast(n int, who string, kind witness.Kind) Condition {
	return func(events []witness.Event) bool { return count(events, ofKind(who, kind)) >= n }
}

func count(events []witness.Event, such match) (n int) {
	for _, e := range events {
		if such(e) {
			n++
		}
	}
	return n
}

// before reports whether a condition was met before the first such event, or is met where there is none.
func before(such match, condition Condition) Condition {
	return func(events []witness.Event) bool {
		if i := slices.IndexFunc(events, such); i >= 0 {
			events = events[:i]
		}
		return condition(events)
	}
}

// since reports whether there is such an event, and a condition is met by what came after it.
func since(such match, condition Condition) Condition {
	return func(events []witness.Event) bool {
		i := slices.IndexFunc(events, such)
		return i >= 0 && condition(events[i+1:])
	}
}

// within reports whether the first of some events came so soon after the first of others.
func within(d time.Duration, first, then match) Condition {
	return func(events []witness.Event) bool {
		i := slices.IndexFunc(events, first)
		if i < 0 {
			return false
		}
		j := slices.IndexFunc(events[i:], then)
		return j >= 0 && events[i+j].Replied.Sub(events[i].Replied) < d
	}
}

// requestedInTime reports whether a sale asked for the lock before the first sale had done its work.
func requestedInTime(sale string) Condition {
	return before(ofKind("r1#1", witness.KindEnds), requested(sale))
}

// diedWithLock reports whether a replica died when one of its sales had taken the lock.
func diedWithLock(replica string) Condition {
	dies := ofKind(replica, witness.KindDies)
	return all(some(dies), before(dies, either(obtained(replica), did(replica, witness.Takes, witness.Done))))
}

// freedInCriticalSection reports whether the command that was held went on to Redis while a sale was inside.
func freedInCriticalSection(sale string) Condition {
	freed := ofKind("", witness.KindCommandReleased)
	return all(some(freed), before(freed, all(obtained(sale), not(moment(sale, witness.KindLeaves)))))
}

// blockedFor reports whether a sale that had asked neither obtained the lock nor gave up for so long after the first sale had obtained it.
func blockedFor(d time.Duration, sale string) Condition {
	first := ofKind("r1#1", witness.KindObtains)
	over := func(e witness.Event) bool {
		return ofKind(sale, witness.KindObtains)(e) || ofKind(sale, witness.KindEnds)(e)
	}
	return all(before(over, requested(sale)), since(first, some(over)), not(within(d, first, over)))
}

func refused(sale string) Condition { return did(sale, witness.Takes, witness.Refused) }

// passedOn reports whether a replica has given the lock back by a command that hands it to the next process, if one waits.
func passedOn(replica string) Condition { return did(replica, witness.Removes, witness.Passed) }

func renewed(replica string) Condition { return did(replica, witness.Renews, witness.Done) }

// diedWaiting reports whether the replica of a sale died while the sale waited for the lock.
func diedWaiting(sale string) Condition {
	dies := ofKind(witness.ReplicaOf(sale), witness.KindDies)
	return all(some(dies), before(dies, all(refused(sale), not(obtained(sale)))))
}

// renewedInTime reports whether a replica renewed its lock before one of its sales ended.
func renewedInTime(sale string) Condition {
	return all(ended(sale), before(ofKind(sale, witness.KindEnds), renewed(witness.ReplicaOf(sale))))
}

// soldAfter reports whether the last sale of a replica that ended after something had happened was made.
func soldAfter(kind witness.Kind, replica string) Condition {
	return since(ofKind("", kind), func(events []witness.Event) bool {
		for _, e := range slices.Backward(events) {
			if ofKind(replica, witness.KindEnds)(e) {
				return e.Error == ""
			}
		}
		return false
	})
}

// What a finding must be to count.

const (
	lossNoticeSlack = 500 * time.Millisecond // how late a sale may hear that its lock is lost: a busy machine runs its timers late
	busySlack       = 2 * time.Second        // that a busy machine may take longer
)

// lastsFor blames what went on for longer.
func lastsFor(d time.Duration) func(witness.Finding) bool {
	return func(f witness.Finding) bool { return time.Duration(f.Duration) > d }
}

// idleFor blames a lock that nobody had for longer, and whatever else was found.
func idleFor(d time.Duration) func(witness.Finding) bool {
	return func(f witness.Finding) bool { return f.Kind != witness.LockIdle || time.Duration(f.Duration) > d }
}
