package search_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/internal/explore/search"
)

// counter is a system to search: actors add one to a number, in two steps, read and write. A lost update is what the search looks for.
type counter struct {
	actors          int
	risingRead      *int          // actors read this number, which rises up to 3 with each read; nil: they read what was written
	alternatingRead []int         // reads of each actor, of which every other one gives 5 once another actor has written; nil: no such reads
	fails           bool          // the run fails at its last step
	blockUntil      chan struct{} // a run waits until it is closed; nil: it does not wait
	exitsGoroutine  bool          // a run ends its goroutine
	diagnosis       error         // result of DiagnoseRun, except for periodic checks
}

// step is the index of the actor that takes a step.
type step int

// counterRun is a run of a counter.
type counterRun struct {
	counter
	number int
	read   []int // number that each actor has read; -1: nothing yet, -2: it has written
	taken  int
}

// The kinds of hits.
const (
	lostUpdate = "lost-update"
	never      = "never"
)

var errLastStep = errors.New("out of luck")

func (c counter) Play(f func(search.Run[step])) error {
	if c.blockUntil != nil {
		<-c.blockUntil
	}
	if c.exitsGoroutine {
		runtime.Goexit()
	}
	r := &counterRun{counter: c, read: slices.Repeat([]int{-1}, c.actors)}
	if f(r); c.fails && r.taken == 2*c.actors {
		return errLastStep
	}
	return nil
}

func (counter) Explain(err error, path []step) error {
	return fmt.Errorf("after %q: %w", formatSchedule(path), err)
}

func (c counter) DiagnoseRun(why search.CheckReason) error {
	if why == search.PeriodicCheck {
		return nil
	}
	return c.diagnosis
}

func (counter) Close() {}

func formatSchedule(path []step) string {
	var names []string
	for _, by := range path {
		names = append(names, string(rune('A'+by)))
	}
	return strings.Join(names, " ")
}

func (r *counterRun) Transitions() (all []step) {
	for i, read := range r.read {
		if read != -2 {
			all = append(all, step(i))
		}
	}
	return all
}

func (r *counterRun) Apply(by step) bool {
	r.taken++
	switch read := r.read[by]; {
	case read == -1 && r.risingRead != nil:
		*r.risingRead = min(*r.risingRead+1, 3)
		r.read[by] = *r.risingRead
	case read == -1 && r.number > 0 && r.alternatingRead != nil:
		r.alternatingRead[by]++
		r.read[by] = 1 + 4*(r.alternatingRead[by]%2)
	case read == -1:
		r.read[by] = r.number
	default:
		r.number = read + 1
		r.read[by] = -2
	}
	return true
}

func (r *counterRun) Check() search.Observation {
	sight := search.Observation{Terminal: len(r.Transitions()) == 0, Note: r.number}
	if sight.Terminal && r.number < r.actors {
		sight.Hits = append(sight.Hits, lostUpdate)
	}
	return sight
}

func (r *counterRun) Fingerprint() search.Fingerprint {
	sum := uint64(r.number)
	for _, read := range r.read {
		sum = sum*100 + uint64(read+2)
	}
	return search.Fingerprint{sum}
}

type goal = search.Goal[step]

func searchCounter(t *testing.T, c counter, g goal, bounds search.Bounds) (search.Result, []search.ShortestSchedule[step], error) {
	t.Helper()
	return search.BreadthFirst(t.Context(), func() (search.System[step], error) { return c, nil }, g, bounds)
}

// The schedule found is the first of the shortest, whatever the number of workers.
func TestBreadthFirstFindsShortestSchedule(t *testing.T) {
	for _, workers := range []int{1, 2, 5} {
		_, found, err := searchCounter(t, counter{actors: 2}, goal{Kinds: []string{lostUpdate}}, search.Bounds{Workers: workers})
		if err != nil || len(found) != 1 || formatSchedule(found[0].Path) != "A B A B" {
			t.Errorf("%d workers: found %+v, error %v; want A B A B", workers, found, err)
		}
	}
}

// Two actors have six schedules, but fewer states. With EveryState, every schedule is run, up to each of its steps.
func TestBreadthFirstExploresEachStateOnce(t *testing.T) {
	with, _, err := searchCounter(t, counter{actors: 2}, goal{}, search.Bounds{})
	if err != nil || !with.Complete || with.Depth != 3 {
		t.Fatalf("result %+v, error %v; want it complete, with depth 3", with, err)
	}
	without, _, err := searchCounter(t, counter{actors: 2}, goal{}, search.Bounds{EveryState: true})
	if err != nil || !without.Complete || without.Schedules != 2+4+6+6 {
		t.Fatalf("with EveryState: result %+v, error %v; want each step of the six schedules", without, err)
	}
	if with.Schedules >= without.Schedules {
		t.Errorf("%d schedules, and %d with EveryState; want fewer", with.Schedules, without.Schedules)
	}
}

// OnEdge gets each step once, with the observation after it. States are numbered in the order in which they were found.
func TestOnEdgeGetsEachStepOnce(t *testing.T) {
	for _, workers := range []int{1, 3} {
		steps, numbers := map[string]bool{}, map[search.Fingerprint]int32{}
		take := func(e search.Edge[step]) {
			steps[fmt.Sprint(e.From, e.Step)] = true
			number, known := numbers[e.State]
			switch {
			case e.New == known, known && number != e.To, !known && int(e.To) != len(numbers)+1, e.From >= e.To && e.New:
				t.Errorf("%d workers: edge %+v; the number of its state was %d (known: %t)", workers, e, number, known)
			case e.Note == nil || e.Terminal != (e.Note == 3 || len(e.Hits) > 0):
				t.Errorf("%d workers: edge %+v; want its observation", workers, e)
			}
			numbers[e.State] = e.To
		}
		goal := goal{Kinds: []string{never}, All: true, OnEdge: take}
		result, _, err := searchCounter(t, counter{actors: 3}, goal, search.Bounds{Workers: workers})
		if err != nil || !result.Complete || len(numbers)+1 != result.States || len(steps) != result.Schedules {
			t.Errorf("%d workers: error %v; OnEdge got %d states and %d steps; want those of %+v", workers, err, len(numbers)+1, len(steps), result)
		}
	}
}

func TestBoundEndsSearch(t *testing.T) {
	result, _, err := searchCounter(t, counter{actors: 3}, goal{}, search.Bounds{Schedules: 10, Workers: 1})
	want := search.BoundHit{Limit: search.LimitSchedules, Value: 10}
	if err != nil || result.Complete || result.BoundHit != want || result.Schedules > 11 {
		t.Errorf("result %+v, error %v; want it to end after ten schedules, and one that had begun", result, err)
	}
}

func TestNondeterministicSystemIsErrUnrepeatable(t *testing.T) {
	_, _, err := searchCounter(t, counter{actors: 2, risingRead: new(int)}, goal{}, search.Bounds{Workers: 1})
	if !errors.Is(err, search.ErrUnrepeatable) {
		t.Errorf("error %v; want ErrUnrepeatable", err)
	}
}

// Where chance decides, a schedule is repeated until it leads where it led before, and all states that it reaches are explored. Steps that
// no repetition reaches again are counted.
func TestSearchRetriesNondeterministicRuns(t *testing.T) {
	goal := goal{Kinds: []string{lostUpdate, never}, All: true, Attempts: 5}
	deterministic, _, err := searchCounter(t, counter{actors: 2}, goal, search.Bounds{Workers: 1})
	if err != nil || deterministic.Diverged != 0 {
		t.Errorf("deterministic: result %+v, error %v; want no repeated run", deterministic, err)
	}
	alternating, found, err := searchCounter(t, counter{actors: 2, alternatingRead: make([]int, 2)}, goal, search.Bounds{Workers: 1})
	if err != nil || !alternating.Complete || alternating.Diverged == 0 || len(found) != 1 || alternating.States != deterministic.States+3 {
		t.Errorf("alternating: result %+v, found %v, error %v; want the states after reading 5 as well", alternating, found, err)
	}
	rising, _, err := searchCounter(t, counter{actors: 2, risingRead: new(int)}, goal, search.Bounds{Workers: 1})
	if err != nil || rising.Complete || rising.Unreached == 0 || rising.Diverged < rising.Unreached*goal.Attempts {
		t.Errorf("rising: result %+v, error %v; want that the first reading is not reached again", rising, err)
	}
}

func TestErrorNamesItsSchedule(t *testing.T) {
	_, _, err := searchCounter(t, counter{actors: 1, fails: true}, goal{}, search.Bounds{Workers: 1})
	if !errors.Is(err, errLastStep) || err.Error() != `after "A A": out of luck` {
		t.Errorf("error %v; want the schedule with it", err)
	}
}

// Progress is also called while the schedules of one length are explored.
func TestProgressIsReportedWithinLevel(t *testing.T) {
	var once sync.Once
	c := counter{actors: 2, blockUntil: make(chan struct{})}
	goal := goal{Kinds: []string{lostUpdate}, Progress: func(search.Result) { once.Do(func() { close(c.blockUntil) }) }}
	if result, found, err := searchCounter(t, c, goal, search.Bounds{}); err != nil || len(found) != 1 {
		t.Errorf("result %+v, found %v, error %v; want one schedule", result, found, err)
	}
}

// A run that makes no progress, or ends its worker's goroutine, is diagnosed, and the search does not wait for it.
func TestRunWithoutProgressIsDiagnosed(t *testing.T) {
	errBlind := errors.New("it waits for rain")
	for name, test := range map[string]struct {
		system counter
		want   error
	}{
		"it waits, with a diagnosis":    {system: counter{blockUntil: make(chan struct{}), diagnosis: errBlind}, want: errBlind},
		"it waits, without a diagnosis": {system: counter{blockUntil: make(chan struct{})}, want: search.ErrNoProgress},
		"it exits, with a diagnosis":    {system: counter{exitsGoroutine: true, diagnosis: errBlind}, want: errBlind},
		"it exits, without a diagnosis": {system: counter{exitsGoroutine: true}, want: search.ErrNoProgress},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // some wait until Bounds.StallTimeout is over
			if blocks := test.system.blockUntil; blocks != nil {
				defer close(blocks) // lets the goroutine of the run end
			}
			test.system.actors = 2
			_, _, err := searchCounter(t, test.system, goal{}, search.Bounds{Workers: 2, StallTimeout: 20 * time.Millisecond})
			if !errors.Is(err, test.want) {
				t.Errorf("error %v; want %v", err, test.want)
			}
		})
	}
}
