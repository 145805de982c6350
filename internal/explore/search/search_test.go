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

// counter is a system to search that is no lock: actors add one to a number, in two steps, read and write. What they lose is an anomaly.
type counter struct {
	actors          int
	risingRead      *int          // if not nil, what is read is this, and grows up to 3
	alternatingRead []int         // if not nil, an actor reads 5 every other time, once another one has written
	fails           bool          // the last step fails
	blockUntil      chan struct{} // if not nil, a run waits for it
	exitsGoroutine  bool          // a run ends its goroutine
	diagnosis       error         // what Lost says once nobody gets on
}

// step is that of an actor.
type step int

// counting is a run of it.
type counterRun struct {
	counter
	number int
	read   []int // what each actor has read; -1: nothing yet, -2: it is done
	taken  int
}

// What it shows.
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

// The schedule found is the first of the shortest, however many workers look for it.
func TestTheShortestIsFound(t *testing.T) {
	for _, workers := range []int{1, 2, 5} {
		_, found, err := searchCounter(t, counter{actors: 2}, goal{Kinds: []string{lostUpdate}}, search.Bounds{Workers: workers})
		if err != nil || len(found) != 1 || formatSchedule(found[0].Path) != "A B A B" {
			t.Errorf("%d workers: %+v, %v; want A B A B", workers, found, err)
		}
	}
}

// Six schedules of two actors, of which the states are few. Without the cut every schedule is run, to each of its steps.
func TestAStateIsGoneOnFromOnce(t *testing.T) {
	with, _, err := searchCounter(t, counter{actors: 2}, goal{}, search.Bounds{})
	if err != nil || !with.Complete || with.Depth != 3 {
		t.Fatalf("%+v, %v; want it complete", with, err)
	}
	without, _, err := searchCounter(t, counter{actors: 2}, goal{}, search.Bounds{EveryState: true})
	if err != nil || !without.Complete || without.Schedules != 2+4+6+6 {
		t.Fatalf("%+v, %v; want each step of the six schedules", without, err)
	}
	if with.Schedules >= without.Schedules {
		t.Errorf("%d schedules with the cut; without it: %d", with.Schedules, without.Schedules)
	}
}

// Each step is given once, with what there is to see after it, from and to states that are numbered in the order in which they were found.
func TestEachStepIsGivenOnce(t *testing.T) {
	for _, workers := range []int{1, 3} {
		seen, numbers := map[string]bool{}, map[search.Fingerprint]int32{}
		take := func(e search.Edge[step]) {
			seen[fmt.Sprint(e.From, e.Step)] = true
			number, known := numbers[e.State]
			switch {
			case e.New == known, known && number != e.To, !known && int(e.To) != len(numbers)+1, e.From >= e.To && e.New:
				t.Errorf("%d workers: %+v; of that state is known: %d, %t", workers, e, number, known)
			case e.Note == nil || e.Terminal != (e.Note == 3 || len(e.Hits) > 0):
				t.Errorf("%d workers: %+v; want what there is to see", workers, e)
			}
			numbers[e.State] = e.To
		}
		result, _, err := searchCounter(t, counter{actors: 3}, goal{Kinds: []string{never}, All: true, OnEdge: take}, search.Bounds{Workers: workers})
		if err != nil || !result.Complete || len(numbers)+1 != result.States || len(seen) != result.Schedules {
			t.Errorf("%d workers: %v; %d states, %d steps were given; want those of %+v", workers, err, len(numbers)+1, len(seen), result)
		}
	}
}

func TestABoundEndsASearch(t *testing.T) {
	result, _, err := searchCounter(t, counter{actors: 3}, goal{}, search.Bounds{Schedules: 10, Workers: 1})
	if want := (search.BoundHit{Limit: search.LimitSchedules, Most: 10}); err != nil || result.Complete || result.BoundHit != want || result.Schedules > 11 {
		t.Errorf("%+v, %v; want it to end after ten schedules, and one that had begun", result, err)
	}
}

func TestASystemThatDoesNotRepeatIsAnError(t *testing.T) {
	_, _, err := searchCounter(t, counter{actors: 2, risingRead: new(int)}, goal{}, search.Bounds{Workers: 1})
	if !errors.Is(err, search.ErrUnrepeatable) {
		t.Errorf("%v; want ErrUnrepeatable", err)
	}
}

// Where chance decides, a schedule is repeated until it leads where it led before, and each way is gone on from. What no repetition leads
// to again is counted.
func TestChanceIsRepeated(t *testing.T) {
	goal := goal{Kinds: []string{lostUpdate, never}, All: true, Attempts: 5}
	sure, _, err := searchCounter(t, counter{actors: 2}, goal, search.Bounds{Workers: 1})
	if err != nil || sure.Diverged != 0 {
		t.Errorf("%+v, %v; want that nothing is repeated", sure, err)
	}
	tossed, found, err := searchCounter(t, counter{actors: 2, alternatingRead: make([]int, 2)}, goal, search.Bounds{Workers: 1})
	if err != nil || !tossed.Complete || tossed.Diverged == 0 || len(found) != 1 || tossed.States != sure.States+3 {
		t.Errorf("%+v, %v, %v; want also what follows when one reads 5", tossed, found, err)
	}
	drawn, _, err := searchCounter(t, counter{actors: 2, risingRead: new(int)}, goal, search.Bounds{Workers: 1})
	if err != nil || drawn.Complete || drawn.Unreached == 0 || drawn.Diverged < drawn.Unreached*goal.Attempts {
		t.Errorf("%+v, %v; want that what was read first is missed", drawn, err)
	}
}

func TestAnErrorComesWithItsSchedule(t *testing.T) {
	_, _, err := searchCounter(t, counter{actors: 1, fails: true}, goal{}, search.Bounds{Workers: 1})
	if !errors.Is(err, errLastStep) || err.Error() != `after "A A": out of luck` {
		t.Errorf("%v; want the schedule", err)
	}
}

// How far a search is, is told while it looks at the schedules of one length, too.
func TestProgressIsToldWithinALevel(t *testing.T) {
	var once sync.Once
	c := counter{actors: 2, blockUntil: make(chan struct{})}
	goal := goal{Kinds: []string{lostUpdate}, Progress: func(search.Result) { once.Do(func() { close(c.blockUntil) }) }}
	if result, found, err := searchCounter(t, c, goal, search.Bounds{}); err != nil || len(found) != 1 {
		t.Errorf("%+v, %v", result, err)
	}
}

// A run that does not come back is asked for, and so is one that ends its worker's goroutine; nobody waits for it.
func TestARunThatIsLost(t *testing.T) {
	errBlind := errors.New("it waits for rain")
	for name, test := range map[string]struct {
		system counter
		want   error
	}{
		"it waits, and says why":       {counter{blockUntil: make(chan struct{}), diagnosis: errBlind}, errBlind},
		"it waits, and nobody knows":   {counter{blockUntil: make(chan struct{})}, search.ErrNoProgress},
		"it is gone, and says why":     {counter{exitsGoroutine: true, diagnosis: errBlind}, errBlind},
		"it is gone, and nobody knows": {counter{exitsGoroutine: true}, search.ErrNoProgress},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // some wait until nobody gets on
			if blocks := test.system.blockUntil; blocks != nil {
				defer close(blocks) // or its goroutine leaks
			}
			test.system.actors = 2
			_, _, err := searchCounter(t, test.system, goal{}, search.Bounds{Workers: 2, Patience: 20 * time.Millisecond})
			if !errors.Is(err, test.want) {
				t.Errorf("%v; want %v", err, test.want)
			}
		})
	}
}
