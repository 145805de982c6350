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
const attempts = 40

// errEnough ends a search.
var errEnough = errors.New("nothing more is to be looked for")

// Result is what a search found.
type Result struct {
	Found      []Finding // the shortest of each kind
	Runs       int
	States     int
	Depth      int      // all schedules of so many steps were run
	Complete   bool     // and there are no longer ones
	Incomplete string   // why not
	Chance     int      // runs that chance led elsewhere, and that were repeated
	Missed     int      // choices that no repetition led to again
	Never      []string // faults that have happened in no run, though they might
	Took       time.Duration
}

// Steps returns the length of a finding's schedule.
func (f Finding) Steps() int { return len(strings.Fields(f.Schedule)) }

// searcher is what is searched: a search.System.
type searcher struct {
	*Stage
	stop   func() // the search
	judged map[judged]struct{}
	result Result

	taken  atomic.Int64 // steps of all runs
	before int64        // of them, when Lost was called last
	since  time.Time    // when they were first so many
}

// judged is a state, and whose step led there: all that a Game judges by, but for what steps have done.
type judged struct {
	state search.Fingerprint
	by    string
}

// Search looks at every schedule, breadth first. A state that was seen is not gone on from.
func (s *Stage) Search() (Result, error) {
	began := time.Now()
	ctx, free := context.WithDeadline(s.t.Context(), began.Add(s.limits.Time))
	defer free()
	for {
		scripts := s.shared.Scripts()
		one := &searcher{Stage: s, judged: map[judged]struct{}{}}
		err := one.run(ctx)
		one.conclude(time.Since(began))
		if err != nil || s.shared.Scripts() == scripts {
			return one.result, err
		} // else a script was met for the first time: what was sent before it had no name yet
	}
}

// conclude says what the result is worth.
func (s *searcher) conclude(took time.Duration) {
	r, l := &s.result, s.limits
	r.Took = took
	for _, f := range fault.BubbleFaults() {
		if l.Faults[f] > 0 && s.used[f] == 0 {
			r.Never = append(r.Never, f.String())
		}
	}
	switch {
	case r.Missed > 0:
		r.Incomplete = fmt.Sprintf("%d choices could not be repeated in %d attempts each, and what follows them was left out: does the code "+
			"draw random pauses (math/rand), as a client does before it resends?", r.Missed, attempts)
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
	goal := search.Goal[string]{Attempts: attempts, OnLevel: func(int) error {
		if s.result.Depth++; s.result.Depth == s.limits.Depth || s.limits.First && len(s.result.Found) > 0 {
			return errEnough
		}
		return nil
	}}
	begin := func() (search.System[string], error) { return s, nil }
	r, _, err := search.BreadthFirst(ctx, begin, goal, search.Bounds{Workers: 1, Patience: s.limits.Time})
	s.result.States, s.result.Complete, s.result.Chance, s.result.Missed = r.States, r.Complete, r.Diverged, r.Unreached
	switch {
	case errors.Is(err, errEnough):
		return nil
	case errors.Is(err, search.ErrNoProgress) && s.t.Failed(): // it has called t.FailNow
		s.t.FailNow()
	}
	return err
}

// Play implements search.System.
func (s *searcher) Play(f func(search.Run[string])) error {
	s.result.Runs++
	s.taken.Add(1)
	var played searched
	leaked, err := s.play(func(r *Run) error {
		played = searched{run: r, of: s}
		f(&played)
		return played.err
	})
	if leaked != "" && played.judged && played.rests {
		s.note(Finding{Kind: GoroutineLeak, Says: leaked}, played.path)
	}
	if s.result.Runs >= s.limits.Runs || len(s.result.Found) == len(s.limits.Kinds) {
		s.stop()
	}
	return err
}

// Explain implements search.System.
func (*searcher) Explain(err error, _ []string) error { return err }

// DiagnoseRun implements search.System. It is called by another goroutine while a run goes on.
func (s *searcher) DiagnoseRun(search.CheckReason) error {
	if taken := s.taken.Load(); taken != s.before || s.since.IsZero() {
		s.before, s.since = taken, time.Now()
		return nil
	}
	still := time.Since(s.since)
	if still < blindTime {
		return nil
	}
	if err := blindWait(); err != nil || still < endlessTime {
		return err
	}
	return endlessLoop()
}

// Close implements search.System.
func (*searcher) Close() {}

// note keeps what has been shown, if it was to be looked for and nothing as short shows it.
func (s *searcher) note(f Finding, path []string) {
	if !slices.Contains(s.limits.Kinds, f.Kind) {
		return
	}
	f.Schedule = strings.Join(path, " ")
	i := slices.IndexFunc(s.result.Found, func(known Finding) bool { return known.Kind == f.Kind })
	switch {
	case i < 0:
		s.result.Found = append(s.result.Found, f)
	case s.result.Found[i].Steps() > f.Steps(): // chance may come late
		s.result.Found[i] = f
	}
}

// searched is a run in a search: a search.Run.
type searched struct {
	run    *Run
	of     *searcher
	path   []string
	print  search.Fingerprint // of the state after it
	judged bool
	rests  bool // no call goes on in that state
	err    error
}

// Transitions implements search.Run.
func (r *searched) Transitions() []string { return r.run.tokens() }

// Apply implements search.Run. It reports false, too, if chance has led elsewhere, where there is no such step.
func (r *searched) Apply(token string) bool {
	r.of.taken.Add(1)
	err := r.run.do(token)
	if err != nil && !errors.Is(err, errStale) {
		r.err = err
	}
	r.path = append(r.path, token)
	return err == nil
}

// Check implements search.Run. It lets time pass, so nothing can follow it.
func (r *searched) Check() search.Observation {
	by := judged{r.Fingerprint(), r.run.step.Actor}
	r.judged, r.rests = true, !r.run.isAnyCalling()
	for _, f := range r.run.game.Seen() {
		r.of.note(f, r.path)
	}
	if _, known := r.of.judged[by]; known {
		return search.Observation{}
	}
	r.of.judged[by] = struct{}{}
	var found []Finding
	found, r.err = r.run.game.Judge()
	for _, f := range found {
		r.of.note(f, r.path)
	}
	return search.Observation{}
}

// Fingerprint implements search.Run: that of the state that the last step led to.
func (r *searched) Fingerprint() search.Fingerprint {
	if !r.judged {
		r.print = r.run.fingerprint()
	}
	return r.print
}
