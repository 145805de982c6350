package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"lockstep/internal/explore/checker"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/search"
	"lockstep/internal/lock/anomaly"
)

// What code does behind the explorer's back it does in most of the schedules. So the first of them are inspected, and few after that.
const (
	inspected = 25
	rarely    = 400
)

// System is a harness, to be searched.
type System struct {
	*Harness

	After []engine.Transition // the schedule that each run begins with, and that is part of what it leads to
	See   func(*Run) Seen     // how a run is seen; nil: as it is
	Again bool                // the same code was searched before, so it is inspected rarely
}

// Seen is a run as somebody sees it.
type Seen interface {
	search.Named[engine.Transition]
	search.Viewed[engine.Transition]
	search.Noted
	Transitions() []engine.Transition
	Apply(t engine.Transition) bool
	Check() (found []checker.Finding, over bool)
	Fingerprint() engine.Fingerprint
	Err() error
}

// searched is a search.Run.
type searched struct{ Seen }

// Check implements search.Run.
func (s searched) Check() (shown []string, over bool) {
	found, over := s.Seen.Check()
	for _, f := range found {
		shown = append(shown, string(f.Anomaly))
	}
	at := func(a string) int { return slices.Index(anomaly.All(), anomaly.Anomaly(a)) }
	slices.SortStableFunc(shown, func(a, b string) int { return at(a) - at(b) })
	return shown, over
}

// Play implements search.System.
func (s System) Play(path []engine.Transition, backwards bool, f func(search.Run[engine.Transition])) error {
	run := s.Begin(backwards)
	defer run.Close()
	s.watch.run.Store(run.Execution)
	for _, t := range s.After {
		run.Apply(t)
	}
	seen := Seen(run)
	if s.See != nil {
		seen = s.See(run)
	}
	if !follow(seen, path) {
		return engine.ErrUnrepeatable
	}
	f(searched{seen})
	if s.played++; s.played <= inspected && !s.Again || s.played%rarely == 0 {
		run.Inspect()
	}
	return run.Err()
}

// follow runs the code along a path that it has taken before. Code that does something else this time may not find the way.
func follow(run Seen, path []engine.Transition) (found bool) {
	defer func() { found = recover() == nil }()
	for _, t := range path {
		run.Apply(t)
	}
	return true
}

// Explain implements search.System.
func (s System) Explain(err error, path []engine.Transition, backwards bool) error {
	path = slices.Concat(s.After, path)
	if errors.Is(err, search.ErrUnrepeatable) {
		err = engine.ErrUnrepeatable
	}
	if err == engine.ErrUnrepeatable { //nolint:errorlint // the line is not known yet
		if where := s.Differs(path, backwards); where != "" {
			err = fmt.Errorf("%w: %s", err, where)
		}
	}
	return fmt.Errorf("after %q: %w", s.Trace(path, backwards).Schedule(), err)
}

// counterexample runs the schedule that shows something once more, and records it.
func (s System) counterexample(of search.Found[engine.Transition]) Counterexample {
	run, t := s.recorded(slices.Concat(s.After, of.Path), of.Backwards)
	defer run.Close()
	shown, _ := run.Check()
	for _, f := range shown {
		if string(f.Anomaly) == of.Kind && t.Verdict == "" {
			t.Verdict = findingSays(f, t.Language)
		}
	}
	return Counterexample{Anomaly(of.Kind), len(of.Path), t.Schedule(), t}
}

// watch looks at the runs of a harness from outside, for one that waits where nobody sees it, or that comes to no end.
type watch struct {
	run   atomic.Pointer[engine.Execution] // the last
	seen  *engine.Execution                // the last time, with the turn that it had
	turn  uint64
	times int    // that it was seen so
	waits string // how it waited, the last time
}

// endless is how often a turn is seen until it counts as one that has no end: a search looks five times a second, and the watch itself is
// slow where the machine is.
const endless = 20

// Lost implements search.Watched.
func (h *Harness) Lost(why search.Loss) error {
	w := &h.watch
	x := w.run.Load()
	switch {
	case x == nil:
		return nil
	case why == search.Gone:
		return cmp.Or(x.Err(), engine.ErrGone)
	case why == search.Stalled:
		return x.Busy(engine.Stacks())
	}
	was, turn := w.waits, x.Turn()
	if w.times++; turn == 0 || w.seen != x || w.turn != turn {
		w.times = 1
	}
	if w.seen, w.turn, w.waits = x, turn, ""; turn == 0 {
		return nil
	}
	stacks := engine.Stacks()
	if err := x.Blocked(stacks); err != nil {
		if w.waits = err.Error(); w.waits == was {
			return err
		}
	}
	if w.times%endless == 0 {
		return x.Busy(stacks)
	}
	return nil
}

// errDear means that there are many schedules, and vain polls that need not be in them.
var errDear = errors.New("vain polls cost too many schedules")

// Search searches, in a system for each worker, made by begin. It fails with errDear once there are so many schedules as bounds.Awake says,
// unless that is 0, and waiters would have asked in vain more often.
func Search(
	ctx context.Context, begin func() (System, error), goal search.Goal[engine.Transition], bounds Bounds,
) (result Result, err error) {
	goal.Take = result.Coverage.add
	goal.Go = func(schedules int) error {
		if bounds.Awake > 0 && schedules >= bounds.Awake && result.Coverage.Beyond {
			return errDear
		}
		return nil
	}
	var found []search.Found[engine.Transition]
	result.Result, found, err = search.Do(ctx, func() (search.System[engine.Transition], error) { return begin() }, goal, bounds)
	if errors.Is(err, search.ErrLost) {
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
