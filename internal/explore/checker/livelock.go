package checker

import (
	"slices"

	"lockstep/internal/explore/execution"
)

const (
	circle = 200  // states that a livelock has at most
	turns  = 1000 // steps that those in it are watched for
)

// livelocked reports whether those who wait keep each other waiting: as long as nobody is told anything new, they come to the states again
// in which they were, in whatever order they go on, and in none of these has anybody finished. As they may count, one of the orders is
// followed for long.
func (c *Checker) livelocked() bool {
	known := map[string]bool{}
	todo := [][]execution.Transition{nil}
	for len(todo) > 0 {
		path := todo[0]
		todo = todo[1:]
		state, next, free := c.after(path)
		if free || len(known) > circle {
			return false
		}
		if known[state] {
			continue
		}
		known[state] = true
		for _, t := range next {
			todo = append(todo, append(slices.Clip(path), t))
		}
	}
	return c.turns()
}

// after goes on along a path. It gives the state, the steps that may follow, and whether somebody has got free.
func (c *Checker) after(path []execution.Transition) (state string, next []execution.Transition, free bool) {
	copied, end := c.futures.Again()
	defer end()
	x := copied.x
	left := waiting(x)
	for _, t := range path {
		x.Transitions()
		x.Apply(t)
	}
	next = goesOn(x)
	return x.Loose(), next, len(next) == 0 || waiting(x) < left || x.Err() != nil
}

// turns reports whether nobody gets free in one order, in which each goes on.
func (c *Checker) turns() bool {
	copied, end := c.futures.Again()
	defer end()
	x := copied.x
	left := waiting(x)
	for i := range turns {
		next := goesOn(x)
		if len(next) == 0 {
			return false
		}
		x.Apply(next[i%len(next)])
		if waiting(x) < left || x.Err() != nil {
			return false
		}
	}
	return true
}

// goesOn lists what may follow without a fault.
func goesOn(x *execution.Execution) []execution.Transition {
	return slices.DeleteFunc(slices.Clone(x.Transitions()), func(t execution.Transition) bool { return t.Kind.Fault() != "" })
}

// waiting returns how many are still to finish.
func waiting(x *execution.Execution) (n int) {
	for _, a := range x.Actors() {
		if !a.Finished() && !a.Dead() {
			n++
		}
	}
	return n
}
