package locktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/internal/explore/search"
)

// attempts are how often a schedule is run until it leads where it led before. The code under test may leave something to chance: which
// of two channels that are both ready a select takes, for example. Go throws dice there, so each way is met soon.
const attempts = 40

// errEnough ends a search.
var errEnough = errors.New("nothing more is to be looked for")

// searcher is what is searched: a search.System.
type searcher struct {
	*stage
	first  bool   // one anomaly is enough
	stop   func() // the search
	judged map[judged]struct{}
	result Result
}

// judged is a state, and whose step led there: all that check looks at, but for what steps have done.
type judged struct {
	state search.Fingerprint
	by    string
}

// explore searches, breadth first. A state that was seen is not gone on from.
func explore(t *testing.T, c Config, open func(Process) (Lock, error), first bool) (Result, error) {
	stage, err := newStage(t, c, open)
	if err != nil {
		return Result{}, err
	}
	began := time.Now()
	ctx, free := context.WithDeadline(t.Context(), began.Add(stage.game.Time))
	defer free()
	for {
		scripts := stage.shared.Scripts()
		s := &searcher{stage: stage, first: first, judged: map[judged]struct{}{}}
		err := s.run(ctx)
		s.conclude(time.Since(began))
		if err != nil || stage.shared.Scripts() == scripts {
			return s.result, err
		} // else a script was met for the first time: what was sent before it had no name yet
	}
}

// conclude says what the result is worth.
func (s *searcher) conclude(took time.Duration) {
	r, g := &s.result, s.game
	r.Took = took
	switch {
	case !s.obtained:
		r.Vacuous = "no call of Lock has ever succeeded: is Process.Dial what its client dials with?"
	case !s.locked:
		r.Vacuous = fmt.Sprintf("nothing has ever written the key %q: is Config.Key that of the lock?", g.Key)
	}
	switch {
	case r.Missed > 0:
		r.Incomplete = fmt.Sprintf("%d choices could not be repeated in %d attempts each, and what follows them was left out: does the code "+
			"draw random pauses (math/rand), as a client does before it resends?", r.Missed, attempts)
	case r.Complete || g.Depth > 0 && r.Depth >= g.Depth:
	case r.Runs >= g.Runs:
		r.Incomplete = fmt.Sprintf("Config.Runs, %d, are used up", g.Runs)
	case r.Took >= g.Time:
		r.Incomplete = fmt.Sprintf("Config.Time, %v, is over", g.Time)
	}
}

func (s *searcher) run(ctx context.Context) error {
	ctx, s.stop = context.WithCancel(ctx)
	defer s.stop()
	goal := search.Goal[string]{Attempts: attempts, Go: func(int) error {
		if s.result.Depth++; s.result.Depth == s.game.Depth || s.first && len(s.result.Found) > 0 {
			return errEnough
		}
		return nil
	}}
	begin := func() (search.System[string], error) { return s, nil }
	r, _, err := search.Do(ctx, begin, goal, search.Bounds{Workers: 1, Patience: s.game.Time})
	s.result.States, s.result.Complete, s.result.Chance, s.result.Missed = r.States, r.Complete, r.Chance, r.Missed
	switch {
	case errors.Is(err, errEnough):
		return nil
	case errors.Is(err, search.ErrLost) && s.t.Failed(): // it has called t.FailNow
		s.t.FailNow()
	}
	return err
}

// Play implements search.System.
func (s *searcher) Play(f func(search.Run[string])) error {
	s.result.Runs++
	var played searched
	leaked, err := s.play(func(r *run) error {
		played = searched{run: r, of: s}
		f(&played)
		return played.err
	})
	if leaked && played.judged {
		s.note(Counterexample{Anomaly: GoroutineLeak, Says: leak}, played.path)
	}
	if g := s.game; s.result.Runs >= g.Runs || len(s.result.Found) == len(Anomalies())-len(g.Allow) {
		s.stop()
	}
	return err
}

// Explain implements search.System.
func (*searcher) Explain(err error, _ []string) error { return err }

// Lost implements search.System.
func (*searcher) Lost(search.Loss) error { return nil }

// Close implements search.System.
func (*searcher) Close() {}

// note keeps what has been shown, if it was to be looked for and nothing as short shows it.
func (s *searcher) note(f Counterexample, path []string) {
	if slices.Contains(s.game.Allow, f.Anomaly) {
		return
	}
	f.Schedule = strings.Join(path, " ")
	i := slices.IndexFunc(s.result.Found, func(known Counterexample) bool { return known.Anomaly == f.Anomaly })
	switch {
	case i < 0:
		s.result.Found = append(s.result.Found, f)
	case s.result.Found[i].Steps() > f.Steps(): // chance may come late
		s.result.Found[i] = f
	}
}

// searched is a run in a search: a search.Run.
type searched struct {
	run    *run
	of     *searcher
	path   []string
	print  search.Fingerprint // of the state after it
	judged bool
	err    error
}

// Transitions implements search.Run.
func (r *searched) Transitions() []string { return r.run.tokens() }

// Apply implements search.Run. It reports false, too, if chance has led elsewhere, where there is no such step.
func (r *searched) Apply(token string) bool {
	err := r.run.do(token)
	if err != nil && !errors.Is(err, errStale) {
		r.err = err
	}
	r.path = append(r.path, token)
	return err == nil
}

// Check implements search.Run. It lets time pass, so nothing can follow it.
func (r *searched) Check() search.Sight {
	by := judged{r.Fingerprint(), r.run.step.Actor}
	r.judged = true
	for _, f := range r.run.found {
		r.of.note(f, r.path)
	}
	if _, known := r.of.judged[by]; known {
		return search.Sight{}
	}
	r.of.judged[by] = struct{}{}
	var found []Counterexample
	found, r.err = r.run.check()
	for _, f := range found {
		r.of.note(f, r.path)
	}
	return search.Sight{}
}

// Fingerprint implements search.Run: that of the state that the last step led to.
func (r *searched) Fingerprint() search.Fingerprint {
	if !r.judged {
		r.print = r.run.fingerprint()
	}
	return r.print
}
