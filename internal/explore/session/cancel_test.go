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

// counting is a context that counts the steps before which it is asked, and that ends after some.
type counting struct {
	context.Context //nolint:containedctx // it is one

	steps, after int
}

func (c *counting) Err() error {
	if c.steps++; c.steps > c.after {
		return context.Canceled
	}
	return nil
}

// sales is a schedule of four buyers, one after the other: three sales each, with nested calls.
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

// Of two locks beside each other each goes along the schedule once: twice as many steps take twice as long, not four times. Nothing goes on
// once the reader has left.
func TestCompareIsLinear(t *testing.T) {
	locks := [2]strategy.Strategy{find(t, "v5"), find(t, "v6")}
	in := explore.Scenario{Actors: 4, Sales: 3, Nested: 5}
	compare := func(schedule string, after int) (*counting, error) {
		ctx := &counting{Context: t.Context(), after: after}
		c, err := session.Compare(ctx, locks, in, schedule)
		if err == nil && len(c.Rows) < len(strings.Fields(schedule)) {
			t.Errorf("%d rows of %q", len(c.Rows), schedule)
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
	if n := len(strings.Fields(sales("ABCD"))); whole.steps > 3*half.steps || whole.steps > 10*n {
		t.Errorf("%d steps for a schedule of %d, %d for half of it", whole.steps, n, half.steps)
	}
	const left = 50
	if ctx, err := compare(sales("ABCD"), left); !errors.Is(err, context.Canceled) || errors.Is(err, explore.ErrStale) || ctx.steps > left+3 {
		t.Errorf("%v, after %d steps; want it to end with its reader, after %d", err, ctx.steps, left)
	}
}

// A session and a replay end with their reader, and do not blame the schedule.
func TestWhatRunsEndsWithItsReader(t *testing.T) {
	lock := find(t, "v5")
	in := explore.Scenario{Actors: 4, Sales: 3, Nested: 5}
	for name, run := range map[string]func(context.Context) error{
		"a session": func(ctx context.Context) error {
			_, err := session.NewWithContext(ctx, lock, in, sales("ABCD"))
			return err
		},
		"a replay": func(ctx context.Context) error {
			_, err := explore.ReplayWithContext(ctx, lock, in, sales("ABCD"))
			return err
		},
	} {
		for _, left := range []int{0, 1, 50, 100} {
			ctx := &counting{Context: t.Context(), after: left}
			if err := run(ctx); !errors.Is(err, context.Canceled) || errors.Is(err, explore.ErrStale) || ctx.steps > left+3 {
				t.Errorf("%s: %v, after %d steps; want it to end after %d", name, err, ctx.steps, left)
			}
		}
	}
}
