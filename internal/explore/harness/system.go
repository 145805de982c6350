package harness

import (
	"slices"

	"lockstep/internal/explore/execution"
	"lockstep/internal/explore/search"
	"lockstep/internal/explore/trace"
)

// System is a harness, to be searched.
type System struct {
	*Harness

	After []execution.Transition // the schedule that each run begins with, and that is part of what it leads to
	See   func(*Run) search.Run  // how a run is seen; nil: as it is
}

// Begin implements search.System.
func (s System) Begin(backwards bool) search.Run {
	run := s.Harness.Begin(backwards)
	for _, t := range s.After {
		run.Apply(t)
	}
	if s.See != nil {
		return s.See(run)
	}
	return run
}

// Trace implements search.System.
func (s System) Trace(schedule []execution.Transition, backwards bool) trace.Trace {
	return s.Harness.Trace(slices.Concat(s.After, schedule), backwards)
}
