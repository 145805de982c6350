package quorum_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/quorum"
)

const timeout = time.Second

// yes is a request that every node agrees to, after so long.
func yes(after time.Duration) quorum.Request {
	return func(ctx context.Context, _ redis.Cmdable) (bool, error) {
		return true, lock.Sleep(ctx, lock.SystemClock{}, after)
	}
}

// vote gives how many nodes agreed, and how long that took.
func vote(t *testing.T, n *quorum.Nodes, r quorum.Request) (int, time.Duration) {
	t.Helper()
	began := time.Now()
	tally, _ := n.Vote(t.Context(), r)
	if tally.Yes+tally.No+tally.Failed != 3 {
		t.Errorf("%+v; want 3 votes", tally)
	}
	return tally.Yes, time.Since(began)
}

// Nodes that are late for a moment fail the vote that they are late for, and no other.
func TestNodesThatAreLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := quorum.New(make([]redis.Cmdable, 3), lock.SystemClock{}, timeout)
		if agreed, took := vote(t, n, yes(timeout*3/2)); agreed != 0 || took != timeout {
			t.Errorf("late: %d agreed after %v; want none after %v", agreed, took, timeout)
		}
		if agreed, took := vote(t, n, yes(0)); agreed < 2 || took != timeout/2 {
			t.Errorf("next: %d agreed after %v; want a majority after %v", agreed, took, timeout/2)
		}
	})
}

// Of nodes that hang, one vote more waits. The others fail at once, until the nodes answer.
func TestNodesThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := quorum.New(make([]redis.Cmdable, 3), lock.SystemClock{}, timeout)
		for i, want := range []time.Duration{timeout, timeout, 0, 0} {
			if agreed, took := vote(t, n, yes(10*timeout)); agreed != 0 || took != want {
				t.Errorf("vote %d: %d agreed after %v; want none after %v", i+1, agreed, took, want)
			}
		}
		if err := lock.Sleep(t.Context(), lock.SystemClock{}, 9*timeout); err != nil {
			t.Fatal(err)
		}
		if agreed, took := vote(t, n, yes(0)); agreed != 3 || took != 0 {
			t.Errorf("in the end: %d agreed after %v; want 3 at once", agreed, took)
		}
		if agreed, took := vote(t, n, yes(timeout*3/2)); agreed != 0 || took != timeout {
			t.Errorf("late again: %d agreed after %v; want none after %v", agreed, took, timeout)
		}
		if agreed, took := vote(t, n, yes(0)); agreed < 2 || took != timeout/2 {
			t.Errorf("next: %d agreed after %v; want a majority after %v", agreed, took, timeout/2)
		}
	})
}

// One who leaves while it waits does not count as nodes that hang.
func TestOneWhoLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := quorum.New(make([]redis.Cmdable, 3), lock.SystemClock{}, timeout)
		vote(t, n, yes(timeout*3/2))
		gone, leave := context.WithTimeout(t.Context(), timeout/4)
		defer leave()
		if tally, asked := n.Vote(gone, yes(0)); tally.Failed != 3 || len(asked) != 0 {
			t.Errorf("one who left: %+v, %d were asked; want three failures", tally, len(asked))
		}
		if agreed, took := vote(t, n, yes(0)); agreed < 2 || took != timeout/4 {
			t.Errorf("next: %d agreed after %v; want a majority after %v", agreed, took, timeout/4)
		}
	})
}

// backwards is a clock on which a goroutine starts the sooner the later it is asked for.
type backwards struct {
	lock.SystemClock

	began time.Time
}

func (c backwards) Go(_ string, f func()) { c.AfterFunc(time.Minute-time.Since(c.began)*2, f) }

// A node is told things in the order in which it was to be told them, though nobody waits for the first any more.
func TestOneThingAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := quorum.New(make([]redis.Cmdable, 1), backwards{began: time.Now()}, time.Hour)
		var told []string
		tells := func(what string) quorum.Request {
			return func(context.Context, redis.Cmdable) (bool, error) {
				told = append(told, what)
				return true, nil
			}
		}
		gone, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		_, asked := n.Vote(gone, tells("take"))
		if tally := n.Ask(t.Context(), asked, tells("give back")); tally.Yes != 1 {
			t.Errorf("giving back: %+v; want one who agrees", tally)
		}
		if !slices.Equal(told, []string{"take", "give back"}) {
			t.Errorf("the node was told %q", told)
		}
	})
}
