package session_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
	"lockstep/internal/strategy"
)

// countingContext counts the calls of Err, one before each step, and ends after a given number of them.
type countingContext struct {
	context.Context //nolint:containedctx // the struct is itself a context

	calls, limit int
}

func (c *countingContext) Err() error {
	if c.calls++; c.calls > c.limit {
		return context.Canceled
	}
	return nil
}

// sales returns a schedule of buyers, one letter each, who buy one after another: three sales each, with nested calls.
func sales(buyers string) string {
	var all []string
	for _, who := range strings.Split(buyers, "") {
		for range 3 {
			for _, step := range []struct {
				token string
				times int
			}{{"lock", 1}, {"GET", 1}, {"lock", 5}, {"unlock", 5}, {"write", 1}, {"unlock", 1}} {
				all = append(all, slices.Repeat([]string{who + ":" + step.token}, step.times)...)
			}
		}
	}
	return strings.Join(all, " ")
}

// Compare runs each lock along the schedule once: twice as many steps take twice as long, not four times. It stops when its context ends.
func TestCompareRunsEachScheduleOnce(t *testing.T) {
	locks := [2]strategy.Strategy{find(t, "v5"), find(t, "v6")}
	in := explore.Scenario{Actors: 4, Sales: 3, Nested: 5}
	compare := func(schedule string, after int) (*countingContext, error) {
		ctx := &countingContext{Context: t.Context(), limit: after}
		c, err := session.Compare(ctx, locks, in, schedule)
		if err == nil && len(c.Rows) < len(strings.Fields(schedule)) {
			t.Errorf("Compare returned %d rows; want at least one for each step of %q", len(c.Rows), schedule)
		}
		return ctx, err
	}
	const forever = 1 << 30
	half, err := compare(sales("AB"), forever)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := compare(sales("ABCD"), forever)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(sales("ABCD"))); whole.calls > 3*half.calls || whole.calls > 10*n {
		t.Errorf("%d steps for a schedule of %d, and %d for half of it; want a linear number", whole.calls, n, half.calls)
	}
	const left = 50
	if ctx, err := compare(sales("ABCD"), left); !errors.Is(err, context.Canceled) || errors.Is(err, explore.ErrStale) || ctx.calls > left+3 {
		t.Errorf("Compare ended with %v after %d steps; want context.Canceled after about %d", err, ctx.calls, left)
	}
}

// A session and a replay stop when their context ends, and return its error, not ErrStale.
func TestSessionAndReplayStopWithContext(t *testing.T) {
	lock := find(t, "v5")
	in := explore.Scenario{Actors: 4, Sales: 3, Nested: 5}
	for name, run := range map[string]func(context.Context) error{
		"session": func(ctx context.Context) error {
			_, err := session.NewWithContext(ctx, lock, in, sales("ABCD"))
			return err
		},
		"replay": func(ctx context.Context) error {
			_, err := explore.ReplayWithContext(ctx, lock, in, sales("ABCD"))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, limit := range []int{0, 1, 50, 100} {
				ctx := &countingContext{Context: t.Context(), limit: limit}
				if err := run(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, explore.ErrStale) || ctx.calls > limit+3 {
					t.Errorf("ended with %v after %d steps; want context.Canceled after about %d", err, ctx.calls, limit)
				}
			}
		})
	}
}
