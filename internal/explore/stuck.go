package explore

import (
	"slices"
	"time"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/fault"
	"lockstep/internal/explore/judge"
)

// Bounds on the observation of actors that may be stuck.
const (
	maxMoves      = 100 // moves within which an actor must reach its goal
	vainAttempts  = 100 // fruitless attempts of each waiter after which all of them count as stuck
	movesPerDelay = 20  // moves of the waiters after each jump of the time in isFreedByClock
)

// checkSelfDeadlock detects an actor that waits for its own lock, forever or until the lock expires. Call it when no actor can move.
func (l lookahead) checkSelfDeadlock() {
	for _, a := range l.Engine.Actors() {
		if l.isWaiting(a) && l.judge.Sale(a.Index).HasLease() && l.Holder() == a && !a.Paused() && a.IsWaitingInVain() {
			if l.isFreedByOwnExpiry(a.Index) {
				l.judge.Report(anomaly.SelfDeadlock, judge.WaitsForOwnExpiry, a.Name)
			} else {
				l.judge.Report(anomaly.Stuck, judge.WaitsForItself, a.Name)
			}
		}
	}
}

// isFreedByOwnExpiry reports whether an actor that waits for its own lock continues once the lock has expired.
func (l lookahead) isFreedByOwnExpiry(actor int) bool {
	later, end := l.copyRun()
	defer end()
	x, passes := later.Engine, engine.Transition{Kind: engine.TimePasses}
	isOwnMove := func(t engine.Transition) bool { return t.Kind == engine.Moves && x.Subject(t).Actor.Index == actor }
	for deadline := expiryDeadline(x); x.Now() < deadline && slices.Contains(x.Transitions(), passes); {
		x.Apply(passes)
		if drive(x, isOwnMove, func() bool { return !later.judge.Sale(actor).IsWaiting() }) {
			return true
		}
	}
	return false
}

// isDeadlocked reports whether the remaining actors poll in vain forever: for vainAttempts attempts, and until every expiry has passed,
// none of them gives up or changes anything in Redis. It sets l.undecided if a waiter that reads a clock may stop waiting later.
func (l lookahead) isDeadlocked() bool {
	copied, end := l.copyRun()
	defer end()
	x := copied.Engine
	start, before := x.Now(), x.Cluster.Contents()
	deadline := expiryDeadline(x)
	for n := 0; n < vainAttempts || start < x.Now() && x.Now() < deadline; n++ {
		for _, t := range slices.Clone(x.Transitions()) {
			if t.Kind != engine.PollsOn && t.Kind != engine.TimePasses {
				continue // a fault, or a step of somebody who does not poll
			}
			x.Apply(t)
			if !driveUntilQuiet(x) || !x.Cluster.HoldsSame(before) {
				return false
			}
		}
	}
	l.undecided = l.undecided || x.HasClockReadingWaiter() && l.isFreedByClock(x)
	if err := x.Err(); err != nil {
		l.Engine.Fail(err)
		return false
	}
	return true
}

// isFreedByClock reports whether a waiter that reads a clock continues at some later time, although nothing in Redis shows that time. It
// tries delays that double each time, up to engine.Forever.
func (l lookahead) isFreedByClock(x *engine.Execution) bool {
	initially := x.CountUnfinished()
	for delay := 2 * engine.TTL; delay < engine.Forever; delay *= 2 {
		x.AdvanceBy(delay)
		for range movesPerDelay {
			next := withoutFaults(x)
			if len(next) == 0 || x.CountUnfinished() < initially {
				return true
			}
			x.Apply(next[0])
		}
	}
	return false
}

// driveUntilQuiet lets waiters finish the steps that they have begun, and reports whether all of them then poll in vain again.
func driveUntilQuiet(x *engine.Execution) (quiet bool) {
	return drive(x, engine.Transition.IsProgress, func() bool { return x.Enabled.OnlyFutilePolls })
}

// drive repeatedly applies the first possible transition that is wanted, and reports whether the goal is reached within maxMoves.
func drive(x *engine.Execution, isWanted func(engine.Transition) bool, isGoal func() bool) (reached bool) {
	for range maxMoves {
		transitions := x.Transitions()
		if isGoal() {
			return true
		}
		i := slices.IndexFunc(transitions, isWanted)
		if i < 0 {
			return false
		}
		x.Apply(transitions[i])
	}
	return isGoal()
}

// expiryDeadline returns the time by which every lock has expired twice by every clock.
func expiryDeadline(x *engine.Execution) time.Duration {
	return x.Now() + 2*engine.TTL + x.MaxClockDifference()
}

// withoutFaults returns the possible transitions that are not faults.
func withoutFaults(x *engine.Execution) []engine.Transition {
	return slices.DeleteFunc(slices.Clone(x.Transitions()), func(t engine.Transition) bool { return t.Kind.Fault() != fault.None })
}
