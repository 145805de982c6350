// Package graph answers questions about the states that schedules lead to, and the steps between them.
//
// Away says how many further steps there are from the present state of a session to an anomaly. A Map says so for all states of a small
// scenario at once: it keeps every step that a search has seen, and goes backwards from those that show the anomaly. Explain finds the
// point of no return of a schedule: the step from which on every way shows its anomaly, and what would have saved it.
package graph

import (
	"context"
	"hash/maphash"
	"slices"

	"lockstep/internal/explore"
	"lockstep/internal/explore/execution"
	"lockstep/internal/explore/harness"
	"lockstep/internal/explore/search"
	"lockstep/internal/explore/stepper"
	"lockstep/internal/explore/trace"
)

// system is a harness whose runs begin after a schedule.
type system struct {
	*harness.Harness
	after []execution.Transition
	see   func(run) search.Run // nil: as it is
}

// Begin implements search.System.
func (s system) Begin(backwards bool) search.Run {
	r := run{s.Harness.Begin(backwards)}
	for _, t := range s.after {
		r.Apply(t)
	}
	if s.see != nil {
		return s.see(r)
	}
	return r
}

// Trace implements search.System: the schedule before it is part of it.
func (s system) Trace(schedule []execution.Transition, _ bool) trace.Trace {
	return s.Harness.Trace(slices.Concat(s.after, schedule), false)
}

// run is a harness's run, to be searched.
type run struct{ *harness.Run }

// Sight implements search.Run: nobody asks.
func (run) Sight() search.Sight { return search.Sight{} }

// after searches what follows the schedule of a session.
func after(
	ctx context.Context, s *stepper.Session, see func(run) search.Run, goal search.Goal, bounds explore.Bounds,
) (search.Result, error) {
	goal.OneStart, goal.Language = true, s.Scenario().Language
	seeds := [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	path := s.Path()
	return search.Do(ctx, func() (search.System, error) {
		h, err := harness.New(s.Strategy(), s.Scenario(), false, seeds)
		if err == nil {
			h.EveryStart()
		}
		return system{h, path, see}, err
	}, goal, bounds)
}
