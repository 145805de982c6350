package explore

import (
	"fmt"
	"slices"
	"time"

	"lockstep/internal/explore/checker"
	"lockstep/internal/explore/engine"
	"lockstep/internal/lock/anomaly"
)

// How long those who may be stuck are watched.
const (
	patience = 100    // moves that somebody has to get on
	rounds   = 100    // that each waiter asks in vain before it is given up
	circle   = 200    // states that a livelock has at most
	turns    = 500    // attempts that those in it make
	last     = 20     // steps that they take after that
	long     = 50_000 // steps: nobody knows what comes after more
)

// checkSelfLocked looks, when no actor can move, for one that waits for itself: until its lock expires, or for good.
func (f futures) checkSelfLocked() {
	for _, a := range f.Actors() {
		if f.waits(a) && f.checker.HasLease(a.Index) && f.Holder() == a && !a.Paused() && f.InVain(a) {
			if f.isHeldBeyondExpiry(a.Index) {
				f.checker.Report(anomaly.SelfDeadlock, checker.WaitsForOwnExpiry, a.Name)
			} else {
				f.checker.Report(anomaly.Stuck, checker.WaitsForItself, a.Name)
			}
		}
	}
}

// isHeldBeyondExpiry reports whether an actor that waits for itself gets the lock once it has expired.
func (f futures) isHeldBeyondExpiry(actor int) bool {
	later, end := f.again()
	defer end()
	x, passes := later.Execution, engine.Transition{Kind: engine.TimePasses}
	itsOwn := func(t engine.Transition) bool { return t.Kind == engine.Moves && x.Actor(t).Index == actor }
	for until := x.Now() + 2*engine.TTL + x.Ahead(); x.Now() < until && slices.Contains(x.Transitions(), passes); {
		x.Apply(passes)
		if leads(x, itsOwn, func() bool { return !later.checker.Waits(actor) }) {
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
	x := copied.Execution
	start, version := x.Now(), x.Cluster.Version()
	until := expired(x)
	for n := 0; n < rounds || start < x.Now() && x.Now() < until; n++ {
		for _, t := range slices.Clone(x.Transitions()) {
			if t.Kind != engine.PollsOn && t.Kind != engine.TimePasses {
				continue // a fault, or what others do beside them
			}
			x.Apply(t)
			if !canBecomeQuiet(x) || x.Cluster.Version() != version {
				return false
			}
		}
	}
	f.undecided = f.undecided || x.IsReading() && f.helped(x)
	if err := x.Err(); err != nil {
		f.Fail(err)
		return false
	}
	return true
}

// helped reports whether somebody who looks at a clock gets free after a time that nothing in Redis tells.
func (f futures) helped(x *engine.Execution) bool {
	left := x.Going()
	for d := 2 * engine.TTL; d < engine.Forever; d *= 2 {
		x.AdvanceBy(d)
		for range last {
			next := withoutFaults(x)
			if len(next) == 0 || x.Going() < left {
				return true
			}
			x.Apply(next[0])
		}
	}
	return false
}

// canBecomeQuiet lets waiters end what they have begun, and reports whether they are asking in vain again.
func canBecomeQuiet(x *engine.Execution) bool {
	return leads(x, engine.Transition.Progress, x.IsQuiet)
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

// isLivelocked reports whether those who wait keep each other waiting: as long as nobody is told anything new, they come to the states
// again in which they were, in whatever order they go on, and in none of these has anybody finished. As they may count, or look at a clock,
// one of the orders is followed for long.
func (f futures) isLivelocked() bool {
	known := map[string]bool{}
	for todo := [][]engine.Transition{nil}; len(todo) > 0; {
		others, free := f.goOn(todo[0], known)
		if free || len(known) > circle {
			return false
		}
		todo = append(todo[1:], others...)
	}
	return f.isStuckInTurns()
}

// goOn goes on along a path, and on from there, until it comes to a state that is known. It gives the paths that it has left aside, and
// whether somebody has got free.
func (f futures) goOn(path []engine.Transition, known map[string]bool) (others [][]engine.Transition, free bool) {
	copied, end := f.again()
	defer end()
	x := copied.Execution
	left := x.Going()
	for _, t := range path {
		x.Transitions()
		x.Apply(t)
	}
	for {
		next := withoutFaults(x)
		if len(next) == 0 || x.Going() < left || x.Err() != nil {
			return nil, true
		}
		state := x.Loose() + fmt.Sprint(next) // a waiter that was told something once asks again
		if known[state] || len(known) > circle {
			return others, false
		}
		known[state] = true
		for _, t := range next[1:] {
			others = append(others, append(slices.Clip(path), t))
		}
		x.Apply(next[0])
		path = append(slices.Clip(path), next[0])
	}
}

// isStuckInTurns reports whether nobody gets free in one order, in which each goes on: until they have asked so often, and every expiry
// that is known has come.
func (f futures) isStuckInTurns() bool {
	copied, end := f.again()
	defer end()
	x := copied.Execution
	left, asked, until, timely, elapsed := x.Going(), x.Rounds(), expired(x), x.Timely(), false
	for i, stands, more := 0, 0, last; more > 0; i++ {
		enough, now := x.Rounds() >= asked+turns, x.Now()
		switch {
		case i == long:
			f.undecided = true
			return true
		case enough && (!timely || now >= until):
			more--
		case enough && stands >= last:
			x.AdvanceBy(last / 2 * engine.Poll) // as it would while they ask
			elapsed = true
		}
		next := withoutFaults(x)
		if len(next) == 0 {
			return false
		}
		x.Apply(next[i%len(next)])
		if x.Going() < left || x.Err() != nil {
			f.undecided = elapsed // in no schedule does time pass so
			return elapsed
		}
		if stands++; x.Now() > now {
			stands = 0
		}
	}
	f.undecided = f.undecided || x.IsReading() && f.helped(x)
	return true
}

// expired returns by when every lock has expired twice by every clock, and every expiry that stands in a value has come.
func expired(x *engine.Execution) time.Duration {
	_, known := x.Horizon()
	return max(x.Now()+2*engine.TTL+x.Ahead(), known)
}

// withoutFaults lists what may follow without a fault.
func withoutFaults(x *engine.Execution) []engine.Transition {
	return slices.DeleteFunc(slices.Clone(x.Transitions()), func(t engine.Transition) bool { return t.Kind.Fault() != "" })
}
