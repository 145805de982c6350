package search_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/search"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/trace"
)

// counter is a system to search that is no lock: actors add one to a number, in two steps, read and write. What they lose is an anomaly.
type counter struct {
	actors int
	dice   *int          // if not nil, what is read is this, and grows
	fails  bool          // the last step fails
	names  bool          // what the first actor writes, if it has read a one, depends on the start
	local  bool          // an actor sees no more than the number and what it has read
	begun  *atomic.Int64 // runs from the other start; may be nil
}

// counting is a run of it.
type counting struct {
	counter
	number int
	read   []int // what each actor has read; -1: nothing yet, -2: it is done
	path   []engine.Transition

	backwards bool
}

func (c counter) Begin(backwards bool) search.Run {
	if c.begun != nil && backwards {
		c.begun.Add(1)
	}
	return &counting{counter: c, read: slices.Repeat([]int{-1}, c.actors), backwards: backwards}
}

func (counter) Close() {}

func (counter) Differs([]engine.Transition, bool) string { return "" }

func (c counter) Trace(schedule []engine.Transition, _ bool) trace.Trace {
	var t trace.Trace
	for _, step := range schedule {
		t.Steps = append(t.Steps, trace.Step{Token: string(rune('A' + step.ID))})
	}
	return t
}

func (r *counting) Transitions() (all []engine.Transition) {
	for i, read := range r.read {
		if read != -2 {
			all = append(all, engine.Transition{ID: uint16(i)})
		}
	}
	return all
}

func (*counting) Names(of []engine.Transition) []engine.Transition { return slices.Clone(of) }

func (r *counting) View(t engine.Transition) (view engine.Fingerprint, has bool) {
	return engine.Fingerprint{uint64(r.number), uint64(10*(r.read[t.ID]+2) + int(t.ID))}, r.local
}

func (*counting) Whose(engine.Transition) int          { return -1 }
func (*counting) HasStuttered(int) bool                { return false }
func (*counting) Stutters(int) []engine.Stutter        { return nil }
func (*counting) Repeat(uint16) bool                   { return false }
func (*counting) Beside(int) (none engine.Fingerprint) { return none }

func (r *counting) Apply(t engine.Transition) bool {
	r.path = append(r.path, t)
	switch read := r.read[t.ID]; {
	case read == -1 && r.dice != nil:
		*r.dice++
		r.read[t.ID] = *r.dice
	case read == -1:
		r.read[t.ID] = r.number
	default:
		r.number = read + 1
		if r.names && r.backwards && t.ID == 0 && read == 1 {
			r.number++
		}
		r.read[t.ID] = -2
	}
	return true
}

func (r *counting) Check() (found []anomaly.Found, over bool) {
	over = len(r.Transitions()) == 0
	if over && r.number < r.actors {
		found = append(found, anomaly.Found{Anomaly: anomaly.LostUpdate, Says: fmt.Sprint("it is ", r.number)})
	}
	return found, over
}

func (*counting) Sight() search.Sight { return search.Sight{} }

func (r *counting) Fingerprint() engine.Fingerprint {
	sum := uint64(r.number)
	for _, read := range r.read {
		sum = sum*100 + uint64(read+2)
	}
	return engine.Fingerprint{sum}
}

func (r *counting) Err() error {
	if r.fails && len(r.path) == 2*r.actors {
		return errors.New("out of luck")
	}
	return nil
}

func (*counting) Inspect() {}

func (*counting) Blocked([]string) error { return nil }
func (*counting) Busy([]string) error    { return nil }
func (*counting) Turn() uint64           { return 0 }

func (*counting) Close() {}

func look(t *testing.T, c counter, goal search.Goal, bounds search.Bounds) (search.Result, error) {
	t.Helper()
	goal.OneStart = true
	return search.Do(t.Context(), func() (search.System, error) { return c, nil }, goal, bounds)
}

// patient is a counter of which no run goes on before it is told.
type patient struct {
	counter
	told chan struct{}
}

func (p patient) Begin(backwards bool) search.Run {
	<-p.told
	return p.counter.Begin(backwards)
}

// How far a search is, is told while it looks at the schedules of one length, too.
func TestProgressIsToldWithinALevel(t *testing.T) {
	told := make(chan struct{})
	var once sync.Once
	goal := search.Goal{
		Anomalies: []anomaly.Anomaly{anomaly.LostUpdate}, OneStart: true,
		Progress: func(search.Result) { once.Do(func() { close(told) }) },
	}
	begin := func() (search.System, error) { return patient{counter{actors: 2}, told}, nil }
	result, err := search.Do(t.Context(), begin, goal, search.Bounds{})
	if err != nil || len(result.Found) != 1 {
		t.Errorf("%+v, %v", result, err)
	}
}

// The schedule found is the first of the shortest, however many workers look for it.
func TestTheShortestIsFound(t *testing.T) {
	goal := search.Goal{Anomalies: []anomaly.Anomaly{anomaly.LostUpdate}}
	for _, workers := range []int{1, 2, 5} {
		result, err := look(t, counter{actors: 2}, goal, search.Bounds{Workers: workers})
		if err != nil || len(result.Found) != 1 || result.Found[0].Length != 4 || result.Found[0].Schedule != "A B A B" ||
			result.Found[0].Trace.Verdict != "it is 1" {
			t.Errorf("%d workers: %+v, %v; want A B A B", workers, result, err)
		}
	}
}

// Six schedules of two actors, of which the states are few. Without the cut every schedule is run, to each of its steps.
func TestAStateIsGoneOnFromOnce(t *testing.T) {
	goal := search.Goal{Anomalies: []anomaly.Anomaly{anomaly.TwoHolders}, All: true} // there is none
	with, err := look(t, counter{actors: 2}, goal, search.Bounds{})
	if err != nil || !with.Complete || with.Depth != 3 {
		t.Fatalf("%+v, %v; want it complete", with, err)
	}
	without, err := look(t, counter{actors: 2}, goal, search.Bounds{EveryState: true})
	if err != nil || !without.Complete || without.Schedules != 2+4+6+6 {
		t.Fatalf("%+v, %v; want each step of the six schedules", without, err)
	}
	if with.Schedules >= without.Schedules {
		t.Errorf("%d schedules with the cut; without it: %d", with.Schedules, without.Schedules)
	}
}

func TestASystemThatDoesNotRepeat(t *testing.T) {
	_, err := look(t, counter{actors: 2, dice: new(int)}, search.Goal{}, search.Bounds{Workers: 1})
	if !errors.Is(err, engine.ErrUnrepeatable) {
		t.Errorf("%v; want ErrUnrepeatable", err)
	}
}

func TestAnErrorComesWithItsSchedule(t *testing.T) {
	_, err := look(t, counter{actors: 1, fails: true}, search.Goal{}, search.Bounds{Workers: 1})
	if err == nil || err.Error() != `after "A A": out of luck` {
		t.Errorf("%v; want the schedule", err)
	}
}

// One step at which the starts differ is enough to know that they are not symmetric, whatever the others show.
func TestStartsThatAreSymmetric(t *testing.T) {
	for _, local := range []bool{false, true} {
		for names, want := range map[bool]error{false: nil, true: search.ErrNames} {
			goal := search.Goal{Symmetric: true, Anomalies: []anomaly.Anomaly{anomaly.TwoHolders}, All: true, OneStart: true} // there is none
			c := counter{actors: 3, names: names, local: local}
			result, err := look(t, c, goal, search.Bounds{})
			if !errors.Is(err, want) || result.Complete != (want == nil) {
				t.Errorf("local %t: %v, complete %t; want %v", local, err, result.Complete, want)
			}
			begin := func() (search.System, error) { return c, nil }
			if _, _, err := search.Walk(t.Context(), begin, func(search.Edge) {}, goal, search.Bounds{}); !errors.Is(err, want) {
				t.Errorf("local %t: a walk says %v; want %v", local, err, want)
			}
		}
	}
}

// What a step does to a process that has seen the same is run from the other start once.
func TestAViewIsCheckedOnce(t *testing.T) {
	begun := func(local bool) (runs int64, steps int) {
		var n atomic.Int64
		goal := search.Goal{Symmetric: true, Anomalies: []anomaly.Anomaly{anomaly.TwoHolders}, All: true} // there is none
		result, err := look(t, counter{actors: 3, local: local, begun: &n}, goal, search.Bounds{Workers: 1})
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
	goal := search.Goal{Anomalies: []anomaly.Anomaly{anomaly.TwoHolders}, All: true, OneStart: true} // there is none
	all, err := look(t, counter{actors: 3}, goal, search.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 3} {
		seen := map[string]bool{}
		see := func(e search.Edge) { seen[fmt.Sprint(e.From, e.By)] = true }
		begin := func() (search.System, error) { return counter{actors: 3}, nil }
		states, result, err := search.Walk(t.Context(), begin, see, goal, search.Bounds{Workers: workers})
		if err != nil || !result.Complete || len(states) != all.States || len(seen) != all.Schedules || result.Schedules != all.Schedules {
			t.Errorf("%d workers: %v; %d states, %d steps, %+v; a search sees %+v", workers, err, len(states), len(seen), result, all)
		}
	}
	_, _, err = search.Walk(t.Context(), func() (search.System, error) { return counter{actors: 2, dice: new(int)}, nil },
		func(search.Edge) {}, goal, search.Bounds{Workers: 1})
	if !errors.Is(err, engine.ErrUnrepeatable) {
		t.Errorf("%v; want ErrUnrepeatable", err)
	}
}
