package search_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"lockstep/internal/explore/search"
)

// counter is a system to search that is no lock: actors add one to a number, in two steps, read and write. What they lose is an anomaly.
type counter struct {
	actors int
	dice   *int          // if not nil, what is read is this, and grows up to 3
	coins  []int         // if not nil, an actor reads 5 every other time, once another one has written
	fails  bool          // the last step fails
	names  bool          // what the first actor writes, if it has read a one, depends on the start
	local  bool          // an actor sees no more than the number and what it has read
	begun  *atomic.Int64 // runs from the other start; may be nil
}

// step is that of an actor.
type step int

// counting is a run of it.
type counting struct {
	counter
	number int
	read   []int // what each actor has read; -1: nothing yet, -2: it is done
	path   []step

	backwards bool
}

// What it shows.
const (
	lostUpdate = "lost-update"
	never      = "never"
)

func (c counter) Play(path []step, backwards bool, f func(search.Run[step])) error {
	if c.begun != nil && backwards {
		c.begun.Add(1)
	}
	r := &counting{counter: c, read: slices.Repeat([]int{-1}, c.actors), backwards: backwards}
	for _, by := range path {
		r.Apply(by)
	}
	f(r)
	return r.Err()
}

func (counter) Explain(err error, path []step, _ bool) error {
	return fmt.Errorf("after %q: %w", schedule(path), err)
}

func schedule(path []step) string {
	var names []string
	for _, by := range path {
		names = append(names, string(rune('A'+by)))
	}
	return strings.Join(names, " ")
}

func (counter) Close() {}

func (r *counting) Transitions() (all []step) {
	for i, read := range r.read {
		if read != -2 {
			all = append(all, step(i))
		}
	}
	return all
}

func (r *counting) View(by step) (view search.Fingerprint, has bool) {
	return search.Fingerprint{uint64(r.number), uint64(10*(r.read[by]+2) + int(by))}, r.local
}

func (r *counting) Apply(by step) bool {
	r.path = append(r.path, by)
	switch read := r.read[by]; {
	case read == -1 && r.dice != nil:
		*r.dice = min(*r.dice+1, 3)
		r.read[by] = *r.dice
	case read == -1 && r.number > 0 && r.coins != nil:
		r.coins[by]++
		r.read[by] = 1 + 4*(r.coins[by]%2)
	case read == -1:
		r.read[by] = r.number
	default:
		r.number = read + 1
		if r.names && r.backwards && by == 0 && read == 1 {
			r.number++
		}
		r.read[by] = -2
	}
	return true
}

func (r *counting) Check() (shown []string, over bool) {
	over = len(r.Transitions()) == 0
	if over && r.number < r.actors {
		shown = append(shown, lostUpdate)
	}
	return shown, over
}

func (r *counting) Fingerprint() search.Fingerprint {
	sum := uint64(r.number)
	for _, read := range r.read {
		sum = sum*100 + uint64(read+2)
	}
	return search.Fingerprint{sum}
}

func (r *counting) Err() error {
	if r.fails && len(r.path) == 2*r.actors {
		return errors.New("out of luck")
	}
	return nil
}

type goal = search.Goal[step]

func look(t *testing.T, c counter, g goal, bounds search.Bounds) (search.Result, []search.Found[step], error) {
	t.Helper()
	g.OneStart = true
	return search.Do(t.Context(), func() (search.System[step], error) { return c, nil }, g, bounds)
}

// patient is a counter of which no run goes on before it is told.
type patient struct {
	counter
	told chan struct{}
}

func (p patient) Play(path []step, backwards bool, f func(search.Run[step])) error {
	<-p.told
	return p.counter.Play(path, backwards, f)
}

// How far a search is, is told while it looks at the schedules of one length, too.
func TestProgressIsToldWithinALevel(t *testing.T) {
	told := make(chan struct{})
	var once sync.Once
	goal := goal{
		Kinds: []string{lostUpdate}, OneStart: true,
		Progress: func(search.Result) { once.Do(func() { close(told) }) },
	}
	begin := func() (search.System[step], error) { return patient{counter{actors: 2}, told}, nil }
	result, found, err := search.Do(t.Context(), begin, goal, search.Bounds{})
	if err != nil || len(found) != 1 {
		t.Errorf("%+v, %v", result, err)
	}
}

// The schedule found is the first of the shortest, however many workers look for it.
func TestTheShortestIsFound(t *testing.T) {
	goal := goal{Kinds: []string{lostUpdate}}
	for _, workers := range []int{1, 2, 5} {
		_, found, err := look(t, counter{actors: 2}, goal, search.Bounds{Workers: workers})
		if err != nil || len(found) != 1 || schedule(found[0].Path) != "A B A B" {
			t.Errorf("%d workers: %+v, %v; want A B A B", workers, found, err)
		}
	}
}

// Six schedules of two actors, of which the states are few. Without the cut every schedule is run, to each of its steps.
func TestAStateIsGoneOnFromOnce(t *testing.T) {
	goal := goal{Kinds: []string{never}, All: true}
	with, _, err := look(t, counter{actors: 2}, goal, search.Bounds{})
	if err != nil || !with.Complete || with.Depth != 3 {
		t.Fatalf("%+v, %v; want it complete", with, err)
	}
	without, _, err := look(t, counter{actors: 2}, goal, search.Bounds{EveryState: true})
	if err != nil || !without.Complete || without.Schedules != 2+4+6+6 {
		t.Fatalf("%+v, %v; want each step of the six schedules", without, err)
	}
	if with.Schedules >= without.Schedules {
		t.Errorf("%d schedules with the cut; without it: %d", with.Schedules, without.Schedules)
	}
}

func TestASystemThatDoesNotRepeat(t *testing.T) {
	_, _, err := look(t, counter{actors: 2, dice: new(int)}, goal{}, search.Bounds{Workers: 1})
	if !errors.Is(err, search.ErrUnrepeatable) {
		t.Errorf("%v; want ErrUnrepeatable", err)
	}
}

// Where chance decides, a schedule is repeated until it leads where it led before, and each way is gone on from. What no repetition leads
// to again is counted.
func TestChance(t *testing.T) {
	goal := goal{Kinds: []string{lostUpdate, never}, All: true, Attempts: 5}
	sure, _, err := look(t, counter{actors: 2}, goal, search.Bounds{Workers: 1})
	if err != nil || sure.Chance != 0 {
		t.Errorf("%+v, %v; want that nothing is repeated", sure, err)
	}
	tossed, found, err := look(t, counter{actors: 2, coins: make([]int, 2)}, goal, search.Bounds{Workers: 1})
	if err != nil || !tossed.Complete || tossed.Chance == 0 || len(found) != 1 || tossed.States != sure.States+3 {
		t.Errorf("%+v, %v, %v; want also what follows when one reads 5", tossed, found, err)
	}
	drawn, _, err := look(t, counter{actors: 2, dice: new(int)}, goal, search.Bounds{Workers: 1})
	if err != nil || drawn.Complete || drawn.Missed == 0 || drawn.Chance < drawn.Missed*goal.Attempts {
		t.Errorf("%+v, %v; want that what was read first is missed", drawn, err)
	}
}

func TestAnErrorComesWithItsSchedule(t *testing.T) {
	_, _, err := look(t, counter{actors: 1, fails: true}, goal{}, search.Bounds{Workers: 1})
	if err == nil || err.Error() != `after "A A": out of luck` {
		t.Errorf("%v; want the schedule", err)
	}
}

// One step at which the starts differ is enough to know that they are not symmetric, whatever the others show.
func TestStartsThatAreSymmetric(t *testing.T) {
	for _, local := range []bool{false, true} {
		for names, want := range map[bool]error{false: nil, true: search.ErrNames} {
			goal := goal{Symmetric: true, Kinds: []string{never}, All: true, OneStart: true}
			c := counter{actors: 3, names: names, local: local}
			result, _, err := look(t, c, goal, search.Bounds{})
			if !errors.Is(err, want) || result.Complete != (want == nil) {
				t.Errorf("local %t: %v, complete %t; want %v", local, err, result.Complete, want)
			}
			begin := func() (search.System[step], error) { return c, nil }
			if _, _, err := search.Walk(t.Context(), begin, func(search.Edge[step]) {}, goal, search.Bounds{}); !errors.Is(err, want) {
				t.Errorf("local %t: a walk says %v; want %v", local, err, want)
			}
		}
	}
}

// What a step does to a process that has seen the same is run from the other start once.
func TestAViewIsCheckedOnce(t *testing.T) {
	begun := func(local bool) (runs int64, steps int) {
		var n atomic.Int64
		goal := goal{Symmetric: true, Kinds: []string{never}, All: true}
		result, _, err := look(t, counter{actors: 3, local: local, begun: &n}, goal, search.Bounds{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		return n.Load(), result.Schedules
	}
	all, steps := begun(false)
	once, _ := begun(true)
	const views = 3 * (3 + 3 + 2 + 1) // each actor reads 0, 1 or 2; it writes while the number is that, or has become greater
	if all != int64(steps) || once != views {
		t.Errorf("%d runs from the other start for %d steps, %d if steps have views; want %d", all, steps, once, views)
	}
}

// A walk sees the same states and steps, each step once.
func TestAWalkSeesWhatASearchSees(t *testing.T) {
	goal := goal{Kinds: []string{never}, All: true, OneStart: true}
	all, _, err := look(t, counter{actors: 3}, goal, search.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 3} {
		seen := map[string]bool{}
		see := func(e search.Edge[step]) { seen[fmt.Sprint(e.From, e.By)] = true }
		begin := func() (search.System[step], error) { return counter{actors: 3}, nil }
		states, result, err := search.Walk(t.Context(), begin, see, goal, search.Bounds{Workers: workers})
		if err != nil || !result.Complete || len(states) != all.States || len(seen) != all.Schedules || result.Schedules != all.Schedules {
			t.Errorf("%d workers: %v; %d states, %d steps, %+v; a search sees %+v", workers, err, len(states), len(seen), result, all)
		}
	}
	_, _, err = search.Walk(t.Context(), func() (search.System[step], error) { return counter{actors: 2, dice: new(int)}, nil },
		func(search.Edge[step]) {}, goal, search.Bounds{Workers: 1})
	if !errors.Is(err, search.ErrUnrepeatable) {
		t.Errorf("%v; want ErrUnrepeatable", err)
	}
}
