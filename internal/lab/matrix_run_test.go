package lab

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"lockstep/internal/verdict"
)

func quiet(quick bool) MatrixRun {
	return MatrixRun{Quick: quick, Parallel: 4, Begin: func(Matrix, map[string]int) {}, OnCell: func(CellEvent) {}}
}

// A cell that was not run is not given as observed, whatever is expected of it.
func TestSkippedCellIsNotObserved(t *testing.T) {
	var runs atomic.Int64
	m, err := quiet(true).compute(t.Context(), func(_ context.Context, _ Lab, lock string) (verdict.Verdict, string, error) {
		runs.Add(1)
		if lock == "v2" {
			return "", "", ErrNoRedis
		}
		return verdict.Holds, "", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	observed := m.Count(func(c Cell) bool { return c.HasRun() && c.Observed != verdict.NA })
	unavailable := m.Count(func(c Cell) bool { return c.NotRun == ErrNoRedis.Error() })
	left := m.Count(func(c Cell) bool { return c.NotRun == "not part of a quick run" })
	if int64(observed+unavailable) != runs.Load() || observed == 0 || unavailable == 0 || left == 0 {
		t.Errorf("%d runs: %d observed, %d not to be had, %d left out", runs.Load(), observed, unavailable, left)
	}
	if c := m.Cells["foreign-delete"]["v2"]; c.HasRun() || c.NotRun == "" {
		t.Errorf("foreign-delete, v2: %+v", c)
	}
	if page := m.HTML("lockstep"); !strings.Contains(page, "not run, expected: holds") {
		t.Errorf("nothing is said to be not run:\n%s", page)
	}
}

// A whole run runs every cell but those for which there is nothing to run.
func TestCompleteRunRunsEveryCell(t *testing.T) {
	told := 0
	run := quiet(false)
	run.OnCell = func(news CellEvent) {
		if news.Ended {
			told++
		}
	}
	m, err := run.compute(t.Context(), func(context.Context, Lab, string) (verdict.Verdict, string, error) {
		return verdict.Broken, "", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if left := m.Count(func(c Cell) bool { return !c.HasRun() }); left > 0 {
		t.Errorf("%d cells were not run", left)
	}
	if run := m.Count(func(c Cell) bool { return c.Observed == verdict.Broken }); run != told {
		t.Errorf("%d cells were run, and %d told", run, told)
	}
}

// A lab that fails says nothing of the lock, and does not end the others.
func TestFailedLabIsUnknown(t *testing.T) {
	m, err := quiet(false).compute(t.Context(), func(context.Context, Lab, string) (verdict.Verdict, string, error) {
		return "", "", errors.New("the machine is on fire")
	})
	if err != nil || m.ExitCode() != 2 || m.Cells["foreign-delete"]["v2"].Says != "the machine is on fire" {
		t.Errorf("%v, exit code %d, %+v", err, m.ExitCode(), m.Cells["foreign-delete"]["v2"])
	}
}

func TestInterruptedRunMakesNoMatrix(t *testing.T) {
	ctx, interrupt := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	_, err := quiet(false).compute(ctx, func(context.Context, Lab, string) (verdict.Verdict, string, error) {
		interrupt(enough)
		return "", "", context.Cause(ctx)
	})
	if !errors.Is(err, enough) {
		t.Errorf("%v; want that it was interrupted", err)
	}
}
