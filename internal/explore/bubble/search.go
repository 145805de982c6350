package bubble

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"lockstep/internal/explore/fault"
	"lockstep/internal/explore/search"
)

// maxAttempts is the number of times that a schedule is run to reach again the state that it reached before. The code under test may depend
// on chance, as in a select with two ready cases. Go chooses the case at random, so 40 attempts almost surely reach each.
const maxAttempts = 40

// errSearchDone is returned by a level callback to end a search early.
var errSearchDone = errors.New("the search is done")

// Result is the result of a search.
type Result struct {
	Violations     []Violation   // shortest violation of each kind
	Runs           int           // number of runs, including repetitions
	States         int           // number of different states
	Depth          int           // number of steps up to which all schedules were run
	Complete       bool          // there are no longer schedules
	Incomplete     string        // reason why the search ended before Limits.Depth and is not Complete; "": none
	RepeatedRuns   int           // runs that were repeated because chance had led them elsewhere
	UnreachedSteps int           // number of steps that no repetition reached again, so that the search did not continue from them
	UnusedFaults   []string      // allowed faults that have happened in no run
	Took           time.Duration // real time that the search took
}

// Steps returns the number of steps of the violation's schedule.
func (v Violation) Steps() int { return len(strings.Fields(v.Schedule)) }

// searcher is one search of an Explorer. It implements search.System.
type searcher struct {
	*Explorer                             // explorer whose game is searched
	stop         func()                   // ends the search
	judgedStates map[judgedState]struct{} // states for which Judge was called
	result       Result                   // result so far

	stepCount     atomic.Int64 // steps of all runs; also read by DiagnoseRun
	lastStepCount int64        // stepCount at the last progress
	lastProgress  time.Time    // real time of the last progress that DiagnoseRun saw
}

// judgedState identifies what Judge depends on: a state, and the process whose step led there.
type judgedState struct {
	hash    search.Fingerprint
	process string // name of the process
}

// Search runs every schedule, breadth first. It does not continue from a state that it has reached before.
func (e *Explorer) Search() (Result, error) {
	start := time.Now()
	ctx, cancel := context.WithDeadline(e.t.Context(), start.Add(e.limits.Time))
	defer cancel()
	for {
		scripts := e.shared.Scripts()
		searcher := &searcher{Explorer: e, judgedStates: map[judgedState]struct{}{}}
		err := searcher.run(ctx)
		searcher.completeResult(time.Since(start))
		if err != nil || e.shared.Scripts() == scripts {
			return searcher.result, err
		}
		// A script was seen for the first time, so earlier uses of this script may have had another name. Search again.
	}
}

// completeResult sets Took, UnusedFaults and Incomplete of the result.
func (s *searcher) completeResult(took time.Duration) {
	r, limits := &s.result, s.limits
	r.Took = took
	for _, f := range fault.BubbleFaults() {
		if limits.Faults[f] > 0 && s.usedFaults[f] == 0 {
			r.UnusedFaults = append(r.UnusedFaults, f.String())
		}
	}
	switch {
	case r.UnreachedSteps > 0:
		r.Incomplete = fmt.Sprintf("%d choices could not be repeated in %d attempts each, and what follows them was left out: does the code "+
			"draw random pauses (math/rand), as a client does before it resends?", r.UnreachedSteps, maxAttempts)
	case r.Complete || limits.Depth > 0 && r.Depth >= limits.Depth:
	case r.Runs >= limits.Runs:
		r.Incomplete = fmt.Sprintf("Config.Runs (%d) is used up", limits.Runs)
	case r.Took >= limits.Time:
		r.Incomplete = fmt.Sprintf("Config.Time (%v) is over", limits.Time)
	}
}

// run searches until everything was explored or a limit is hit.
func (s *searcher) run(ctx context.Context) error {
	ctx, s.stop = context.WithCancel(ctx)
	defer s.stop()
	goal := search.Goal[string]{Attempts: maxAttempts, OnLevel: func(int) error {
		if s.result.Depth++; s.result.Depth == s.limits.Depth || s.limits.StopAtFirst && len(s.result.Violations) > 0 {
			return errSearchDone
		}
		return nil
	}}
	begin := func() (search.System[string], error) { return s, nil }
	r, _, err := search.BreadthFirst(ctx, begin, goal, search.Bounds{Workers: 1, StallTimeout: s.limits.Time})
	s.result.States, s.result.Complete, s.result.RepeatedRuns, s.result.UnreachedSteps = r.States, r.Complete, r.Diverged, r.Unreached
	switch {
	case errors.Is(err, errSearchDone):
		return nil
	case errors.Is(err, search.ErrNoProgress) && s.t.Failed(): // The code under test has called t.FailNow.
		s.t.FailNow()
	}
	return err
}

// Play implements search.System. It plays and counts one run.
func (s *searcher) Play(f func(search.Run[string])) error {
	s.result.Runs++
	s.stepCount.Add(1)
	var searched searchRun
	leaked, err := s.play(func(r *Run) error {
		searched = searchRun{run: r, searcher: s}
		f(&searched)
		return searched.err
	})
	if leaked != "" && searched.isJudged && searched.isAtRest {
		s.addViolation(Violation{Kind: GoroutineLeak, Says: leaked}, searched.path)
	}
	if s.result.Runs >= s.limits.Runs || len(s.result.Violations) == len(s.limits.Kinds) {
		s.stop()
	}
	return err
}

// Explain implements search.System. The errors here need no explanation.
func (*searcher) Explain(err error, _ []string) error { return err }

// DiagnoseRun implements search.System: it looks for goroutines that keep the run from taking steps. It may be called from another
// goroutine during a run.
func (s *searcher) DiagnoseRun(search.CheckReason) error {
	if count := s.stepCount.Load(); count != s.lastStepCount || s.lastProgress.IsZero() {
		s.lastStepCount, s.lastProgress = count, time.Now()
		return nil
	}
	idle := time.Since(s.lastProgress)
	if idle < unseenWaitAfter {
		return nil
	}
	if err := findMutexWait(); err != nil || idle < endlessLoopAfter {
		return err
	}
	return findEndlessLoop()
}

// Close implements search.System. There is nothing to release.
func (*searcher) Close() {}

// addViolation records a violation if its kind is looked for, and no schedule that is as short or shorter has shown that kind.
func (s *searcher) addViolation(v Violation, path []string) {
	if !slices.Contains(s.limits.Kinds, v.Kind) {
		return
	}
	v.Schedule = strings.Join(path, " ")
	i := slices.IndexFunc(s.result.Violations, func(other Violation) bool { return other.Kind == v.Kind })
	switch {
	case i < 0:
		s.result.Violations = append(s.result.Violations, v)
	case s.result.Violations[i].Steps() > v.Steps(): // By chance, a later run may show the kind in fewer steps.
		s.result.Violations[i] = v
	}
}

// searchRun adapts a Run to search.Run. Its steps are tokens.
type searchRun struct {
	run      *Run
	searcher *searcher
	path     []string           // tokens of the steps taken
	hash     search.Fingerprint // hash of the state after path, computed before it was judged
	isJudged bool               // Check was called
	isAtRest bool               // isAnyCalling was false in the judged state
	err      error              // first error of a step or of Judge
}

// Transitions implements search.Run: it returns the tokens of the possible steps.
func (r *searchRun) Transitions() []string { return r.run.tokens() }

// Apply implements search.Run. It returns false if the step cannot happen because chance has led the run elsewhere.
func (r *searchRun) Apply(token string) bool {
	r.searcher.stepCount.Add(1)
	err := r.run.takeStep(token)
	if err != nil && !errors.Is(err, errStale) {
		r.err = err
	}
	r.path = append(r.path, token)
	return err == nil
}

// Check implements search.Run. It judges the state. Judging may let time pass, so the run cannot take further steps.
func (r *searchRun) Check() search.Observation {
	key := judgedState{r.Fingerprint(), r.run.currentStep.Actor}
	r.isJudged, r.isAtRest = true, !r.run.isAnyCalling()
	for _, v := range r.run.game.Violations() {
		r.searcher.addViolation(v, r.path)
	}
	if _, ok := r.searcher.judgedStates[key]; ok {
		return search.Observation{}
	}
	r.searcher.judgedStates[key] = struct{}{}
	var found []Violation
	found, r.err = r.run.game.Judge()
	for _, v := range found {
		r.searcher.addViolation(v, r.path)
	}
	return search.Observation{}
}

// Fingerprint implements search.Run. After Check it still returns the hash of the state before the check.
func (r *searchRun) Fingerprint() search.Fingerprint {
	if !r.isJudged {
		r.hash = r.run.stateHash()
	}
	return r.hash
}
