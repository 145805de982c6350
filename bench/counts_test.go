package main

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"lockstep/bench/internal/contest"
	"lockstep/bench/internal/crew"
	"lockstep/bench/internal/race"
	"lockstep/bench/internal/redisserver"
	"lockstep/bench/internal/result"
)

// The test program is its own child.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == crew.Argument {
		os.Exit(run(context.Background(), os.Args[1:], contest.Table(), os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// TestCounts is the short mode: it asserts what a noisy machine cannot change, who sells rightly and by how many requests, and no
// times. A millisecond is added to each round trip, so that waiters really wait.
func TestCounts(t *testing.T) {
	settings := result.Settings{RetryMillis: 20, TTLMillis: 10_000, WaitMillis: 60_000}
	track, err := race.Open(t.Context(), "", settings, os.Args[0], crew.Argument)
	if errors.Is(err, redisserver.ErrNotInstalled) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := track.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, c := range contest.Table() {
		for _, at := range []result.Condition{
			{AddedMillis: 1, Processes: 1, Waiters: 1},
			{AddedMillis: 1, Processes: 1, Waiters: 16},
			{AddedMillis: 1, Processes: 3, Waiters: 16},
		} {
			if c.Brief && at.Processes > 1 {
				continue
			}
			cell, _, err := track.Run(t.Context(), race.Heat{
				Contestant: c, Condition: at, Warmup: 200 * time.Millisecond, Stretch: 600 * time.Millisecond,
			})
			switch {
			case err != nil:
				t.Fatal(err)
			case cell.Status == result.Hung && c.Kind == contest.Library:
				t.Logf("%s under %+v hung: %s", c.Name, at, cell.Note)
			case cell.Status != result.OK || cell.Sales == 0 || cell.Errors > 0:
				t.Errorf("%s under %+v: %+v", c.Name, at, cell)
			default:
				checkCounts(t, cell)
			}
		}
	}
}

// checkCounts holds a cell against what its contestant promises. A request or two beyond the whole number of a sale's are of sales
// that began before the stretch, or end after it.
func checkCounts(t *testing.T, cell result.Cell) {
	t.Helper()
	queues := cell.Contestant == "v7" || cell.Contestant == "v8"
	alone, together := cell.Waiters == 1, cell.Waiters > 1 && cell.Processes == 1
	var least, most float64
	switch {
	case cell.Kind == contest.Limit:
		least, most = 1.9, 2.1
	case cell.Contestant == "atomic":
		least, most = 0.9, 1.1
	case cell.Contestant == "optimistic" && alone:
		least, most = 4.9, 5.2 // WATCH, GET, MULTI, SET, EXEC
	case cell.Contestant == "optimistic":
		least, most = 4.9, 100 // and again after each conflict
	case cell.Contestant == "v9" && alone:
		least, most = 11.5, 12.5 // SET on five nodes, GET, SET, unlock on five nodes
	case cell.Contestant == "v9" && together:
		least, most = 1.9, 4 // it goes to the nodes once in many sales
	case cell.Contestant == "v9":
		least, most = 1.9, 100 // processes poll
	case alone && cell.Contestant == "v3":
		least, most = 4.9, 5.2 // it looks whose the lock is before it deletes it
	case alone:
		least, most = 3.9, 4.2 // lock, GET, SET, unlock
	case queues && together:
		least, most = 1.9, 2.2 // GET, SET, and now and then a word with Redis
	case queues:
		least, most = 1.9, 3 // processes hand over; the slower the machine, the fewer are in line then
	case cell.Kind == contest.Ours:
		least, most = 4.3, 100 // it polls
	default:
		return
	}
	if cell.Commands < least || cell.Commands > most {
		t.Errorf("%s under %+v: %.3f requests a sale; want %.1f to %.1f", cell.Contestant, cell.Condition, cell.Commands, least, most)
	}
	if wakes := cell.Publishes > 0; wakes != (queues && cell.Processes > 1) {
		t.Errorf("%s under %+v: %.3f PUBLISH a sale; only one process wakes another, and v7 and v8 alone do",
			cell.Contestant, cell.Condition, cell.Publishes)
	}
	if (queues || cell.Contestant == "v9" && together) && cell.Never > 0 {
		t.Errorf("%s under %+v: %d of the waiters never got in", cell.Contestant, cell.Condition, cell.Never)
	}
}
