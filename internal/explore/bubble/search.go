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

// attempts are how often a schedule is run until it leads where it led before. The code under test may leave something to chance: which
// of two channels that are both ready a select takes, for example. Go throws dice there, so each way is met soon.
const maxAttempts = 40

// errEnough ends a search.
var errSearchDone = errors.New("nothing more is to be looked for")

// Result is what a search found.
type Result struct {
	Violations     []Violation // the shortest of each kind
	Runs           int
	States         int
	Depth          int      // all schedules of so many steps were run
	Complete       bool     // and there are no longer ones
	Incomplete     string   // why not
	RepeatedRuns   int      // runs that chance led elsewhere, and that were repeated
	UnreachedSteps int      // choices that no repetition led to again
	UnusedFaults   []string // faults that have happened in no run, though they might
	Took           time.Duration
}

// Steps returns the length of a finding's schedule.
func (f Violation) Steps() int { return len(strings.Fields(f.Schedule)) }

// searcher is what is searched: a search.System.
type searcher struct {
	*Explorer
	stop         func() // the search
	judgedStates map[judgedState]struct{}
	result       Result

	stepCount     atomic.Int64 // steps of all runs
	lastStepCount int64        // of them, when Lost was called last
	lastProgress  time.Time    // when they were first so many
}

// judged is a state, and whose step led there: all that a Game judges by, but for what steps have done.
type judgedState struct {
	hash    search.Fingerprint
	process string
}

// Search looks at every schedule, breadth first. A state that was seen is not gone on from.
func (e *Explorer) Search() (Result, error) {
	began := time.Now()
	ctx, free := context.WithDeadline(e.t.Context(), began.Add(e.limits.Time))
	defer free()
	for {
		scripts := e.shared.Scripts()
		one := &searcher{Explorer: e, judgedStates: map[judgedState]struct{}{}}
		err := one.run(ctx)
		one.completeResult(time.Since(began))
		if err != nil || e.shared.Scripts() == scripts {
			return one.result, err
		} // else a script was met for the first time: what was sent before it had no name yet
	}
}

// conclude says what the result is worth.
func (s *searcher) completeResult(took time.Duration) {
	r, l := &s.result, s.limits
	r.Took = took
	for _, f := range fault.BubbleFaults() {
		if l.Faults[f] > 0 && s.usedFaults[f] == 0 {
			r.UnusedFaults = append(r.UnusedFaults, f.String())
		}
	}
	switch {
	case r.UnreachedSteps > 0:
		r.Incomplete = fmt.Sprintf("%d choices could not be repeated in %d attempts each, and what follows them was left out: does the code "+
			"draw random pauses (math/rand), as a client does before it resends?", r.UnreachedSteps, maxAttempts)
	case r.Complete || l.Depth > 0 && r.Depth >= l.Depth:
	case r.Runs >= l.Runs:
		r.Incomplete = fmt.Sprintf("Config.Runs, %d, are used up", l.Runs)
	case r.Took >= l.Time:
		r.Incomplete = fmt.Sprintf("Config.Time, %v, is over", l.Time)
	}
}

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
	r, _, err := search.BreadthFirst(ctx, begin, goal, search.Bounds{Workers: 1, Patience: s.limits.Time})
	s.result.States, s.result.Complete, s.result.RepeatedRuns, s.result.UnreachedSteps = r.States, r.Complete, r.Diverged, r.Unreached
	switch {
	case errors.Is(err, errSearchDone):
		return nil
	case errors.Is(err, search.ErrNoProgress) && s.t.Failed(): // it has called t.FailNow
		s.t.FailNow()
	}
	return err
}

// Play implements search.System.
func (s *searcher) Play(f func(search.Run[string])) error {
	s.result.Runs++
	s.stepCount.Add(1)
	var played searchRun
	leaked, err := s.play(func(r *Run) error {
		played = searchRun{run: r, searcher: s}
		f(&played)
		return played.err
	})
	if leaked != "" && played.isJudged && played.isAtRest {
		s.addViolation(Violation{Kind: GoroutineLeak, Says: leaked}, played.path)
	}
	if s.result.Runs >= s.limits.Runs || len(s.result.Violations) == len(s.limits.Kinds) {
		s.stop()
	}
	return err
}

// Explain implements search.System.
func (*searcher) Explain(err error, _ []string) error { return err }

// DiagnoseRun implements search.System. It is called by another goroutine while a run goes on.
func (s *searcher) DiagnoseRun(search.CheckReason) error {
	if taken := s.stepCount.Load(); taken != s.lastStepCount || s.lastProgress.IsZero() {
		s.lastStepCount, s.lastProgress = taken, time.Now()
		return nil
	}
	still := time.Since(s.lastProgress)
	if still < unseenWaitAfter {
		return nil
	}
	if err := findMutexWait(); err != nil || still < endlessLoopAfter {
		return err
	}
	return findEndlessLoop()
}

// Close implements search.System.
func (*searcher) Close() {}

// note keeps what has been shown, if it was to be looked for and nothing as short shows it.
func (s *searcher) addViolation(f Violation, path []string) {
	if !slices.Contains(s.limits.Kinds, f.Kind) {
		return
	}
	f.Schedule = strings.Join(path, " ")
	i := slices.IndexFunc(s.result.Violations, func(known Violation) bool { return known.Kind == f.Kind })
	switch {
	case i < 0:
		s.result.Violations = append(s.result.Violations, f)
	case s.result.Violations[i].Steps() > f.Steps(): // chance may come late
		s.result.Violations[i] = f
	}
}

// searched is a run in a search: a search.Run.
type searchRun struct {
	run      *Run
	searcher *searcher
	path     []string
	hash     search.Fingerprint // of the state after it
	isJudged bool
	isAtRest bool // no call goes on in that state
	err      error
}

// Transitions implements search.Run.
func (r *searchRun) Transitions() []string { return r.run.tokens() }

// Apply implements search.Run. It reports false, too, if chance has led elsewhere, where there is no such step.
func (r *searchRun) Apply(token string) bool {
	r.searcher.stepCount.Add(1)
	err := r.run.takeStep(token)
	if err != nil && !errors.Is(err, errStale) {
		r.err = err
	}
	r.path = append(r.path, token)
	return err == nil
}

// Check implements search.Run. It lets time pass, so nothing can follow it.
func (r *searchRun) Check() search.Observation {
	by := judgedState{r.Fingerprint(), r.run.currentStep.Actor}
	r.isJudged, r.isAtRest = true, !r.run.isAnyCalling()
	for _, f := range r.run.game.Violations() {
		r.searcher.addViolation(f, r.path)
	}
	if _, known := r.searcher.judgedStates[by]; known {
		return search.Observation{}
	}
	r.searcher.judgedStates[by] = struct{}{}
	var found []Violation
	found, r.err = r.run.game.Judge()
	for _, f := range found {
		r.searcher.addViolation(f, r.path)
	}
	return search.Observation{}
}

// Fingerprint implements search.Run: that of the state that the last step led to.
func (r *searchRun) Fingerprint() search.Fingerprint {
	if !r.isJudged {
		r.hash = r.run.stateHash()
	}
	return r.hash
}
