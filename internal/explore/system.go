package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/fault"
	"lockstep/internal/explore/search"
)

// Inspecting every command of a run is slow. Code that hides goroutines or waits from the explorer does so in most schedules, so inspecting
// the first runs and a few later ones finds it.
const (
	inspectedFirstRuns = 8    // number of first runs; all of them are inspected
	inspectionInterval = 2000 // number of later runs from one inspected run to the next
)

// System adapts a Harness to search.System.
type System struct {
	*Harness

	Prefix       []engine.Transition // schedule that each run begins with; it is part of every counterexample
	Continuation *Continuation       // restriction on the steps after Prefix; nil: none
}

// Continuation restricts a search to runs that continue without a further fault.
type Continuation struct {
	Avoid Anomaly // anomaly that ends a run, which is then not a CleanEnd; "": none
}

// CleanEnd is the result of a run in which all sales have ended without a further fault and without the anomaly to avoid. A search looks
// for CleanEnd as for an anomaly, although CleanEnd is not an anomaly.
const CleanEnd Anomaly = "clean-end"

// searchRun adapts a Run to search.Run.
type searchRun struct {
	*Run
	continuation *Continuation // restriction on the steps; nil: none
	avoided      bool          // the last step showed the anomaly to avoid
}

// Transitions returns the steps that can happen next, for search.Run. In a restricted continuation, faults are left out.
func (s *searchRun) Transitions() []engine.Transition {
	if s.continuation == nil {
		return s.Engine.Transitions()
	}
	return slices.DeleteFunc(s.Engine.Transitions(), func(t engine.Transition) bool { return t.Kind.Budget() != fault.None })
}

// Check returns the anomalies that the last step has shown, the most important first, for search.Run. In a restricted continuation, the
// anomaly to avoid ends the run, and CleanEnd takes its place among the goals.
func (s *searchRun) Check() search.Observation {
	detected, over := s.Run.Check()
	observation := search.Observation{Terminal: over, Note: s.Summary()}
	for _, d := range detected {
		observation.Hits = append(observation.Hits, string(d.Anomaly))
	}
	rank := func(a string) int { return slices.Index(anomaly.All(), anomaly.Anomaly(a)) }
	slices.SortStableFunc(observation.Hits, func(a, b string) int { return rank(a) - rank(b) })
	if s.continuation == nil {
		return observation
	}
	others := slices.DeleteFunc(slices.Clone(observation.Hits), func(shown string) bool { return shown == string(s.continuation.Avoid) })
	s.avoided = len(others) < len(observation.Hits)
	if over && !s.avoided {
		others = append(others, string(CleanEnd))
	}
	observation.Hits, observation.Terminal = others, over || s.avoided
	return observation
}

// Fingerprint returns the state hash, for search.Run. A state that was entered by showing the anomaly to avoid is not continued, and so
// differs from the same state entered otherwise.
func (s *searchRun) Fingerprint() engine.Fingerprint {
	state := s.Engine.Fingerprint()
	if s.avoided {
		state[0] = ^state[0]
	}
	return state
}

// Play begins a run, takes the prefix, and passes the run to f, for search.System. In some runs it inspects every command.
func (s System) Play(f func(search.Run[engine.Transition])) error {
	s.runs++
	setup := s.setup()
	setup.ChecksCallers = s.runs <= inspectedFirstRuns || s.runs%inspectionInterval == 0
	run := s.begin(setup)
	defer run.Close()
	s.watchdog.Follow(run.Engine)
	for _, t := range s.Prefix {
		run.Apply(t)
	}
	f(&searchRun{Run: run, continuation: s.Continuation})
	if setup.ChecksCallers {
		run.Engine.CheckGoroutines()
	}
	run.Engine.CheckPolls(s.checkedPolls)
	return run.Engine.Err()
}

// Explain adds the schedule to an error, for search.System. If the code is nondeterministic, it also finds where.
func (s System) Explain(err error, path []engine.Transition) error {
	path = slices.Concat(s.Prefix, path)
	if errors.Is(err, search.ErrUnrepeatable) {
		err = engine.ErrUnrepeatable
	}
	if err == engine.ErrUnrepeatable { //nolint:errorlint // an error that wraps it has the line already
		err = cmp.Or(s.FindDifference(path), err)
	}
	return &ScheduleError{s.Trace(path).Schedule(), err}
}

// ScheduleError is an error with the schedule that led to it.
type ScheduleError struct {
	Schedule string // tokens of the steps before the error; "": none
	Err      error  // error without the schedule
}

// Error returns the error with its schedule.
func (e *ScheduleError) Error() string { return fmt.Sprintf("after %q: %v", e.Schedule, e.Err) }

// Unwrap returns the error without the schedule.
func (e *ScheduleError) Unwrap() error { return e.Err }

// counterexample repeats a schedule that the search has found, with a recorder, and returns the recording.
func (s System) counterexample(found search.ShortestSchedule[engine.Transition]) Recording {
	run := s.recordedRun(slices.Concat(s.Prefix, found.Path))
	defer run.Engine.Close()
	detected, _ := run.Check()
	for _, d := range detected {
		if string(d.Anomaly) == found.Kind {
			run.addHit(d)
		}
	}
	recording := run.Recording()
	for _, hit := range recording.Hits {
		recording.Verdict = hit.Says
	}
	return recording
}

// DiagnoseRun returns an error that says why the current run makes no progress, for search.System; nil if nothing is wrong.
func (h *Harness) DiagnoseRun(why search.CheckReason) error { return h.watchdog.Diagnose(why) }

// Search runs a search for a goal, and returns a counterexample for each result. It calls begin for the system of each worker, and once
// more to record the counterexamples.
func Search(
	ctx context.Context, begin func() (System, error), goal search.Goal[engine.Transition], bounds Bounds,
) (result Result, err error) {
	onEdge := goal.OnEdge
	goal.OnEdge = func(e search.Edge[engine.Transition]) {
		result.Coverage.add(e)
		if onEdge != nil {
			onEdge(e)
		}
	}
	var found []search.ShortestSchedule[engine.Transition]
	result.Result, found, err = search.BreadthFirst(ctx, func() (search.System[engine.Transition], error) { return begin() }, goal, bounds)
	if errors.Is(err, search.ErrNoProgress) {
		err = engine.ErrBlind
	}
	if err != nil || len(found) == 0 {
		return result, err
	}
	system, err := begin()
	if err != nil {
		return result, err
	}
	defer system.Close()
	for _, f := range found {
		result.Found = append(result.Found, system.counterexample(f))
	}
	return result, nil
}
