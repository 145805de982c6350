package lab

import (
	"slices"

	"lockstep/internal/watch/witness"
)

// What a scenario waits for.

// moment is a sale's coming to a moment of its life.
func moment(sale string, kind witness.Kind) func([]witness.Event) bool {
	return func(events []witness.Event) bool {
		return slices.ContainsFunc(events, func(e witness.Event) bool { return e.Sale == sale && e.Kind == kind })
	}
}

func obtains(sale string) func([]witness.Event) bool { return moment(sale, witness.KindObtains) }
func ends(sale string) func([]witness.Event) bool    { return moment(sale, witness.KindEnds) }

// does is a sale's command with this verb and, unless it is empty, this outcome.
func does(sale string, verb witness.Verb, outcome witness.Outcome) func([]witness.Event) bool {
	return func(events []witness.Event) bool {
		return slices.ContainsFunc(events, func(e witness.Event) bool {
			return e.Sale == sale && e.Command != nil && e.Command.Verb == verb && (outcome == "" || e.Command.Outcome == outcome)
		})
	}
}

// refused is a sale's finding the lock held, or waiting for it in its process.
func refused(sale string) func([]witness.Event) bool {
	return does(sale, witness.Takes, witness.Refused)
}

// either is the first of several conditions.
func either(conditions ...func([]witness.Event) bool) func([]witness.Event) bool {
	return func(events []witness.Event) bool {
		return slices.ContainsFunc(conditions, func(condition func([]witness.Event) bool) bool { return condition(events) })
	}
}

// all is several conditions together.
func all(conditions ...func([]witness.Event) bool) func([]witness.Event) bool {
	return func(events []witness.Event) bool {
		return !slices.ContainsFunc(conditions, func(condition func([]witness.Event) bool) bool { return !condition(events) })
	}
}
