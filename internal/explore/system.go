package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/fault"
	"lockstep/internal/explore/search"
)

// What code does behind the explorer's back, it does in most of the schedules. So the first of them are inspected, and few after that.
const (
	inspected = 8
	rarely    = 2000
)

// System is a harness, to be searched.
type System struct {
	*Harness

	After  []engine.Transition // the schedule that each run begins with, and that is part of what it leads to
	Onward *Onward             // how a run goes on after that; nil: as it may
}

// Onward has runs go on without a further fault.
type Onward struct {
	Avoid Anomaly // a run ends that shows it; "": none
}

// Escaped is what a run has shown that came to the end of all sales without a further fault, and without what it was to avoid. It is no
// anomaly.
const Escaped Anomaly = "escaped"

// searched is a search.Run.
type searched struct {
	*Run
	onward *Onward
	ended  bool // by showing what was to be avoided
}

// Transitions implements search.Run.
func (s *searched) Transitions() []engine.Transition {
	if s.onward == nil {
		return s.Engine.Transitions()
	}
	return slices.DeleteFunc(s.Engine.Transitions(), func(t engine.Transition) bool { return t.Kind.Budget() != fault.None })
}

// Check implements search.Run.
func (s *searched) Check() search.Observation {
	found, over := s.Run.Check()
	sight := search.Observation{Terminal: over, Note: s.Note()}
	for _, f := range found {
		sight.Hits = append(sight.Hits, string(f.Anomaly))
	}
	at := func(a string) int { return slices.Index(anomaly.All(), anomaly.Anomaly(a)) }
	slices.SortStableFunc(sight.Hits, func(a, b string) int { return at(a) - at(b) })
	if s.onward == nil {
		return sight
	}
	others := slices.DeleteFunc(slices.Clone(sight.Hits), func(shown string) bool { return shown == string(s.onward.Avoid) })
	s.ended = len(others) < len(sight.Hits)
	if over && !s.ended {
		others = append(others, string(Escaped))
	}
	sight.Hits, sight.Terminal = others, over || s.ended
	return sight
}

// Fingerprint implements search.Run. A state is another one if the last step into it was to be avoided: nothing is gone on from that.
func (s *searched) Fingerprint() engine.Fingerprint {
	state := s.Engine.Fingerprint()
	if s.ended {
		state[0] = ^state[0]
	}
	return state
}

// Play implements search.System.
func (s System) Play(f func(search.Run[engine.Transition])) error {
	s.played++
	setup := s.setup()
	setup.ChecksCallers = s.played <= inspected || s.played%rarely == 0
	run := s.begin(setup)
	defer run.Close()
	s.watch.Follow(run.Engine)
	for _, t := range s.After {
		run.Apply(t)
	}
	f(&searched{Run: run, onward: s.Onward})
	if setup.ChecksCallers {
		run.Engine.CheckGoroutines()
	}
	run.Engine.CheckPolls(s.polled)
	return run.Engine.Err()
}

// Explain implements search.System.
func (s System) Explain(err error, path []engine.Transition) error {
	path = slices.Concat(s.After, path)
	if errors.Is(err, search.ErrUnrepeatable) {
		err = engine.ErrUnrepeatable
	}
	if err == engine.ErrUnrepeatable { //nolint:errorlint // the line is not known yet
		if where := s.Differs(path); where != "" {
			err = fmt.Errorf("%w: %s", err, where)
		}
	}
	return fmt.Errorf("after %q: %w", s.Trace(path).Schedule(), err)
}

// counterexample runs the schedule that shows something once more, and records it.
func (s System) counterexample(of search.ShortestSchedule[engine.Transition]) Recording {
	run := s.recorded(slices.Concat(s.After, of.Path))
	defer run.Engine.Close()
	found, _ := run.Check()
	for _, f := range found {
		if string(f.Anomaly) == of.Kind {
			run.show(f)
		}
	}
	recording := run.Recording()
	for _, shown := range recording.Shown {
		recording.Verdict = shown.Says
	}
	return recording
}

// DiagnoseRun implements search.System.
func (h *Harness) DiagnoseRun(why search.CheckReason) error { return h.watch.Diagnose(why) }

// Search searches, in a system for each worker, made by begin.
func Search(
	ctx context.Context, begin func() (System, error), goal search.Goal[engine.Transition], bounds Bounds,
) (result Result, err error) {
	take := goal.OnEdge
	goal.OnEdge = func(e search.Edge[engine.Transition]) {
		result.Coverage.add(e)
		if take != nil {
			take(e)
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
