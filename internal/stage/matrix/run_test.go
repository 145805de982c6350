package matrix

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/stage/lab"
)

// fake is a row whose cells come out as they are told.
type fake struct {
	row
	seen func(ctx context.Context, lock string) (observation, error)
}

func (f fake) observe(ctx context.Context, lock string) (observation, error) {
	return f.seen(ctx, lock)
}

// faked are the real rows, none of which is really run.
func faked(seen func(ctx context.Context, lock string) (observation, error)) (all []row) {
	for _, r := range rows("", language.English) {
		all = append(all, fake{r, seen})
	}
	return all
}

func quiet(quick bool) Run {
	return Run{Quick: quick, Beside: 4, Begin: func(Matrix, map[string]int) {}, Tell: func(Told) {}}
}

// A cell that was not run is not given as observed, whatever is expected of it.
func TestWhatWasNotRunIsNotObserved(t *testing.T) {
	var runs atomic.Int64
	m, err := quiet(true).compute(t.Context(), faked(func(_ context.Context, lock string) (observation, error) {
		runs.Add(1)
		if lock == "v2" {
			return observation{}, lab.ErrNoRedis
		}
		return observation{observed: lab.Holds}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	observed := m.Count(func(c Cell) bool { return c.Ran() && c.Observed != lab.NA })
	unavailable := m.Count(func(c Cell) bool { return c.NotRun == lab.ErrNoRedis.Error() })
	left := m.Count(func(c Cell) bool { return c.NotRun == leftOut })
	if int64(observed+unavailable) != runs.Load() || observed == 0 || unavailable == 0 || left == 0 {
		t.Errorf("%d runs: %d observed, %d not to be had, %d left out", runs.Load(), observed, unavailable, left)
	}
	if c := m.Cells["foreign-delete"]["v2"]; c.Ran() || c.NotRun == "" {
		t.Errorf("foreign-delete, v2: %+v", c)
	}
	if page := m.Markdown("lockstep", language.English); !strings.Contains(page, "| not run (expected: holds) |") {
		t.Errorf("nothing is said to be not run:\n%s", page)
	}
}

// A whole run runs every cell but those for which there is nothing to run.
func TestAWholeRunLeavesNothingOut(t *testing.T) {
	told := 0
	run := quiet(false)
	run.Tell = func(news Told) {
		if news.Ends {
			told++
		}
	}
	m, err := run.compute(t.Context(), faked(func(context.Context, string) (observation, error) {
		return observation{observed: lab.Broken}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	if left := m.Count(func(c Cell) bool { return !c.Ran() }); left > 0 {
		t.Errorf("%d cells were not run", left)
	}
	if run := m.Count(func(c Cell) bool { return c.Observed == lab.Broken }); run != told {
		t.Errorf("%d cells were run, and %d told", run, told)
	}
}

// A lab that fails says nothing of the lock, and does not end the others.
func TestAFailureIsUnknown(t *testing.T) {
	m, err := quiet(false).compute(t.Context(), faked(func(context.Context, string) (observation, error) {
		return observation{}, errors.New("the machine is on fire")
	}))
	if err != nil || m.ExitCode() != 2 || m.Cells["foreign-delete"]["v2"].Says != "the machine is on fire" {
		t.Errorf("%v, exit code %d, %+v", err, m.ExitCode(), m.Cells["foreign-delete"]["v2"])
	}
}

func TestAnInterruptedRunIsNoMatrix(t *testing.T) {
	ctx, interrupt := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	_, err := quiet(false).compute(ctx, faked(func(context.Context, string) (observation, error) {
		interrupt(enough)
		return observation{}, context.Cause(ctx)
	}))
	if !errors.Is(err, enough) {
		t.Errorf("%v; want that it was interrupted", err)
	}
}

// Of each strategy every explorer's row says once what is expected, and where it is looked for.
func TestExplorationsAreWhole(t *testing.T) {
	for _, e := range explorations() {
		times := map[string]int{}
		for _, expected := range e.expected {
			for lock := range strings.FieldsSeq(expected.Locks) {
				times[lock]++
			}
		}
		for _, s := range Expected().Strategies {
			if times[s] != 1 {
				t.Errorf("%s says %d times what it expects of %s", e.anomalyName, times[s], s)
			}
			delete(times, s)
		}
		if len(times) > 0 {
			t.Errorf("%s expects something of %v", e.anomalyName, times)
		}
	}
}

// The matrix has all its words in each language.
func TestWordsAreWhole(t *testing.T) {
	for _, in := range language.All() {
		words := reflect.ValueOf(wordsIn(in))
		for i := range words.NumField() {
			if words.Field(i).String() == "" {
				t.Errorf("it has no %s in %s", words.Type().Field(i).Name, in)
			}
		}
	}
}
