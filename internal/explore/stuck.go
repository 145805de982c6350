package explore

import (
	"slices"
	"time"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/fault"
	"lockstep/internal/explore/judge"
)

// How long those who may be stuck are watched.
const (
	patience = 100 // moves that somebody has to get on
	rounds   = 100 // that each waiter asks in vain before it is given up
	last     = 20  // steps that they take after that
)

// checkSelfLocked looks, when no actor can move, for one that waits for itself: until its lock expires, or for good.
func (f futures) checkSelfLocked() {
	for _, a := range f.Engine.Actors() {
		if f.waits(a) && f.judge.Sale(a.Index).HasLease() && f.Holder() == a && !a.Paused() && a.IsWaitingInVain() {
			if f.isHeldBeyondExpiry(a.Index) {
				f.judge.Report(anomaly.SelfDeadlock, judge.WaitsForOwnExpiry, a.Name)
			} else {
				f.judge.Report(anomaly.Stuck, judge.WaitsForItself, a.Name)
			}
		}
	}
}

// isHeldBeyondExpiry reports whether an actor that waits for itself gets the lock once it has expired.
func (f futures) isHeldBeyondExpiry(actor int) bool {
	later, end := f.again()
	defer end()
	x, passes := later.Engine, engine.Transition{Kind: engine.TimePasses}
	itsOwn := func(t engine.Transition) bool { return t.Kind == engine.Moves && x.Subject(t).Actor.Index == actor }
	for until := x.Now() + 2*engine.TTL + x.MaxClockDifference(); x.Now() < until && slices.Contains(x.Transitions(), passes); {
		x.Apply(passes)
		if leads(x, itsOwn, func() bool { return !later.judge.Sale(actor).Waits() }) {
			return true
		}
	}
	return false
}

// isDeadlocked reports whether waiters that ask in vain, and are all that is left, would go on asking: none gives up, or does something
// else, after it has asked so often; and if they let time pass, until every expiry has come.
func (f futures) isDeadlocked() bool {
	copied, end := f.again()
	defer end()
	x := copied.Engine
	start, before := x.Now(), x.Cluster.Contents()
	until := expiryDeadline(x)
	for n := 0; n < rounds || start < x.Now() && x.Now() < until; n++ {
		for _, t := range slices.Clone(x.Transitions()) {
			if t.Kind != engine.PollsOn && t.Kind != engine.TimePasses {
				continue // a fault, or what others do beside them
			}
			x.Apply(t)
			if !canBecomeQuiet(x) || !x.Cluster.HoldsSame(before) {
				return false
			}
		}
	}
	f.undecided = f.undecided || x.HasClockReadingWaiter() && f.helped(x)
	if err := x.Err(); err != nil {
		f.Engine.Fail(err)
		return false
	}
	return true
}

// helped reports whether somebody who looks at a clock gets free after a time that nothing in Redis tells.
func (f futures) helped(x *engine.Execution) bool {
	left := x.CountUnfinished()
	for d := 2 * engine.TTL; d < engine.Forever; d *= 2 {
		x.AdvanceBy(d)
		for range last {
			next := withoutFaults(x)
			if len(next) == 0 || x.CountUnfinished() < left {
				return true
			}
			x.Apply(next[0])
		}
	}
	return false
}

// canBecomeQuiet lets waiters end what they have begun, and reports whether they are asking in vain again.
func canBecomeQuiet(x *engine.Execution) bool {
	return leads(x, engine.Transition.IsProgress, func() bool { return x.Options.OnlyFutilePolls })
}

// leads lets the first of the wanted transitions happen, again and again, and reports whether that leads to where something is so.
func leads(x *engine.Execution, wanted func(engine.Transition) bool, to func() bool) bool {
	for range patience {
		transitions := x.Transitions()
		if to() {
			return true
		}
		i := slices.IndexFunc(transitions, wanted)
		if i < 0 {
			return false
		}
		x.Apply(transitions[i])
	}
	return to()
}

// expiryDeadline returns by when every lock has expired twice by every clock.
func expiryDeadline(x *engine.Execution) time.Duration {
	return x.Now() + 2*engine.TTL + x.MaxClockDifference()
}

// withoutFaults lists what may follow without a fault.
func withoutFaults(x *engine.Execution) []engine.Transition {
	return slices.DeleteFunc(slices.Clone(x.Transitions()), func(t engine.Transition) bool { return t.Kind.Fault() != fault.None })
}
