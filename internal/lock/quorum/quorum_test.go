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

// agreeAfter returns a request to which every node agrees after a delay.
func agreeAfter(after time.Duration) quorum.Request {
	return func(ctx context.Context, _ redis.Cmdable) (bool, error) {
		return true, lock.Sleep(ctx, lock.SystemClock{}, after)
	}
}

// vote returns how many nodes agreed, and how long the vote took.
func vote(t *testing.T, n *quorum.Nodes, r quorum.Request) (int, time.Duration) {
	t.Helper()
	began := time.Now()
	tally, _ := n.Vote(t.Context(), r)
	if tally.Yes+tally.No+tally.Failed != 3 {
		t.Errorf("%+v; want 3 votes", tally)
	}
	return tally.Yes, time.Since(began)
}

// Nodes whose reply is late fail that vote, but not the next one.
func TestLateNodesFailOneVote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := quorum.New(make([]redis.Cmdable, 3), lock.SystemClock{}, timeout)
		if agreed, took := vote(t, n, agreeAfter(timeout*3/2)); agreed != 0 || took != timeout {
			t.Errorf("late: %d agreed after %v; want none after %v", agreed, took, timeout)
		}
		if agreed, took := vote(t, n, agreeAfter(0)); agreed < 2 || took != timeout/2 {
			t.Errorf("next: %d agreed after %v; want a majority after %v", agreed, took, timeout/2)
		}
	})
}

// Only two votes wait for nodes that hang. Later ones fail at once, until the nodes answer again.
func TestHungNodesFailVotesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := quorum.New(make([]redis.Cmdable, 3), lock.SystemClock{}, timeout)
		for i, want := range []time.Duration{timeout, timeout, 0, 0} {
			if agreed, took := vote(t, n, agreeAfter(10*timeout)); agreed != 0 || took != want {
				t.Errorf("vote %d: %d agreed after %v; want none after %v", i+1, agreed, took, want)
			}
		}
		if err := lock.Sleep(t.Context(), lock.SystemClock{}, 9*timeout); err != nil {
			t.Fatal(err)
		}
		if agreed, took := vote(t, n, agreeAfter(0)); agreed != 3 || took != 0 {
			t.Errorf("in the end: %d agreed after %v; want 3 at once", agreed, took)
		}
		if agreed, took := vote(t, n, agreeAfter(timeout*3/2)); agreed != 0 || took != timeout {
			t.Errorf("late again: %d agreed after %v; want none after %v", agreed, took, timeout)
		}
		if agreed, took := vote(t, n, agreeAfter(0)); agreed < 2 || took != timeout/2 {
			t.Errorf("next: %d agreed after %v; want a majority after %v", agreed, took, timeout/2)
		}
	})
}

// A vote that is cancelled while it waits does not count as a sign that nodes hang.
func TestCancelledVoteDoesNotMarkNodesHung(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := quorum.New(make([]redis.Cmdable, 3), lock.SystemClock{}, timeout)
		vote(t, n, agreeAfter(timeout*3/2))
		gone, leave := context.WithTimeout(t.Context(), timeout/4)
		defer leave()
		if tally, asked := n.Vote(gone, agreeAfter(0)); tally.Failed != 3 || len(asked) != 0 {
			t.Errorf("cancelled vote: %+v, %d nodes asked; want three failures, none asked", tally, len(asked))
		}
		if agreed, took := vote(t, n, agreeAfter(0)); agreed < 2 || took != timeout/4 {
			t.Errorf("next: %d agreed after %v; want a majority after %v", agreed, took, timeout/4)
		}
	})
}

// reversingClock is a clock on which goroutines start in the reverse order of their calls.
type reversingClock struct {
	lock.SystemClock

	began time.Time
}

func (c reversingClock) Go(_ string, f func()) { c.AfterFunc(time.Minute-time.Since(c.began)*2, f) }

// A node gets requests in the order in which they were made, even if the caller of the first has given up.
func TestNodeGetsRequestsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := quorum.New(make([]redis.Cmdable, 1), reversingClock{began: time.Now()}, time.Hour)
		var received []string
		newRequest := func(name string) quorum.Request {
			return func(context.Context, redis.Cmdable) (bool, error) {
				received = append(received, name)
				return true, nil
			}
		}
		gone, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		_, asked := n.Vote(gone, newRequest("take"))
		if tally := n.Ask(t.Context(), asked, newRequest("give back")); tally.Yes != 1 {
			t.Errorf("giving back: %+v; want one that agrees", tally)
		}
		if !slices.Equal(received, []string{"take", "give back"}) {
			t.Errorf("the node got %q; want take, then give back", received)
		}
	})
}
