// Package graph answers questions about the states that schedules lead to, and the steps between them.
//
// Away says how many further steps there are from the present state of a session to an anomaly. A Map says so for all states of a small
// scenario at once: it keeps every step that a search has seen, and goes backwards from those that show the anomaly. Explain finds the
// point of no return of a schedule: the step from which on every way shows its anomaly, and what would have saved it.
package graph

import (
	"context"

	"lockstep/internal/explore"
	"lockstep/internal/explore/execution"
	"lockstep/internal/explore/harness"
	"lockstep/internal/explore/search"
	"lockstep/internal/explore/stepper"
)

// after searches what follows the schedule of a session.
func after(
	ctx context.Context, s *stepper.Session, see func(*harness.Run) search.Run, goal search.Goal, bounds explore.Bounds,
) (search.Result, error) {
	goal.OneStart, goal.Language = true, s.Scenario().Language
	options, seeds, path := harness.Options{Cuts: execution.Cuts{EveryStart: true}}, execution.NewSeeds(), s.Path()
	return search.Do(ctx, func() (search.System, error) {
		h, err := harness.New(s.Strategy(), s.Scenario(), options, seeds)
		return harness.System{Harness: h, After: path, See: see}, err
	}, goal, bounds)
}
