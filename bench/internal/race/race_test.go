package race_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/race"
	"lockstep/bench/internal/result"
	"lockstep/bench/internal/worker"
	"lockstep/internal/dao/redisclient"
	"lockstep/internal/test/redisserver"
	"lockstep/internal/test/suite"
)

func openTestbed(t *testing.T) *race.Testbed {
	t.Helper()
	suite.Needs(t, "redis-server")
	settings := result.Settings{RetryMillis: 20, TTLMillis: 10_000, WaitMillis: 10_000}
	testbed, err := race.Open(t.Context(), "", settings, os.Args[0], worker.Argument)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := testbed.Close(); err != nil {
			t.Error(err)
		}
	})
	return testbed
}

func newTrial(t *testing.T, name string, processes, buyers int) race.Trial {
	t.Helper()
	found, err := contestants.Find(testContestants(), []string{name})
	if err != nil {
		t.Fatal(err)
	}
	return race.Trial{
		Contestant: found[0], Condition: result.Condition{Processes: processes, Buyers: buyers},
		Warmup: 100 * time.Millisecond, Window: 400 * time.Millisecond,
	}
}

// A contestant that fails has a status that says so, and does not affect the next one.
func TestFailedContestantDoesNotAffectNext(t *testing.T) {
	testbed := openTestbed(t)
	testbed.ReportTimeout = 3 * time.Second
	for _, test := range []struct {
		name   string
		status result.Status
		note   string
	}{
		{name: "takes two", status: result.Broken, note: "the stock fell by"},
		{name: "stops listening", status: result.Hung, note: "no report from a worker process"},
		{name: "dies", status: result.Failed, note: "panic: dies"},
		{name: "does not open", status: result.Failed, note: "always"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cell, _, err := testbed.Run(t.Context(), newTrial(t, test.name, 2, 4))
			if err != nil || cell.Status != test.status || !strings.Contains(cell.Note, test.note) {
				t.Errorf("%+v, %v; want it %s: …%s…", cell, err, test.status, test.note)
			}
			cell, _, err = testbed.Run(t.Context(), newTrial(t, "decrements", 2, 4))
			if err != nil || cell.Status != result.OK || cell.Sales == 0 {
				t.Errorf("after %s: got %+v, %v, want sales", test.name, cell, err)
			}
		})
	}
}

// A contestant that sells nothing for a second counts as hung, even if it ends in time.
func TestContestantWithoutSalesIsHung(t *testing.T) {
	testbed := openTestbed(t)
	for name, note := range map[string]string{"never gets in": "nothing was sold in the last 1.2s of 1.2s", "always fails": "always"} {
		t.Run(name, func(t *testing.T) {
			h := newTrial(t, name, 1, 3)
			h.Window = 1200 * time.Millisecond
			cell, _, err := testbed.Run(t.Context(), h)
			if err != nil || cell.Status != result.Hung || !strings.Contains(cell.Note, note) || cell.NeverServed != 3 {
				t.Errorf("got %+v, %v, want it hung, with the note %q and 3 buyers never served", cell, err, note)
			}
		})
	}
}

func TestRunCountsRequestsAndPublishes(t *testing.T) {
	testbed := openTestbed(t)
	h := newTrial(t, "needs three", 2, 3)
	h.AddedMillis = 2
	cell, pings, err := testbed.Run(t.Context(), h)
	for ; err == nil && cell.Sales < 30 && h.Window < 10*time.Second; cell, pings, err = testbed.Run(t.Context(), h) {
		h.Window *= 2 // few sales on a busy machine
	}
	if err != nil || cell.Status != result.OK || cell.Sales < 30 {
		t.Fatalf("%+v, %v", cell, err)
	}
	edges := 3 / float64(cell.Sales) // a sale may be counted without its requests, or the reverse, for each buyer
	for what, n := range map[string]struct{ got, want float64 }{
		"requests": {
			got: cell.Requests, want: 2}, "requests of the lock": {got: cell.LockRequests, want: 1}, "PUBLISH": {got: cell.Publishes, want: 1},
	} {
		t.Run(what, func(t *testing.T) {
			if math.Abs(n.got-n.want) > n.want*(0.1+edges) {
				t.Errorf("%.2f %s per sale; want %.0f", n.got, what, n.want)
			}
		})
	}
	if most := 3 * 1000 / 4.0; cell.PerSecond > most || cell.Sales == 0 {
		t.Errorf("%.0f sales a second, want at most %.0f of three buyers that wait 4 ms each", cell.PerSecond, most)
	}
	if len(pings) != 2 || slices.Min(pings) < 2*time.Millisecond {
		t.Errorf("round trips of %v; want two, 2ms at least", pings)
	}
}

func TestRunStopsWhenContextEnds(t *testing.T) {
	testbed := openTestbed(t)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	h := newTrial(t, "stops listening", 2, 2)
	h.Window = time.Hour
	began := time.Now()
	if _, _, err := testbed.Run(ctx, h); !errors.Is(err, context.Canceled) || time.Since(began) > 10*time.Second {
		t.Errorf("got %v after %v, want context.Canceled at once", err, time.Since(began))
	}
}

func TestOpenRefusesRedisWithData(t *testing.T) {
	addr := redisserver.Start(t).Addr
	client := redisclient.Single(redisclient.Config{Addrs: []string{addr}})
	t.Cleanup(func() { client.Close() })
	if err := client.Set(t.Context(), "precious", 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := race.Open(t.Context(), addr, result.Settings{}); !errors.Is(err, race.ErrNotEmpty) {
		t.Errorf("Open: %v; want ErrNotEmpty", err)
	}
	if got := client.Get(t.Context(), "precious").Val(); got != "1" {
		t.Errorf("got %q for the key from before, want it unchanged", got)
	}
}

// In a repetition every contestant has a trial under every condition, together with the limit, in random order.
func TestTrialsCoverAllConditions(t *testing.T) {
	plan := race.Plan{
		Contestants: contestants.Table(), Buyers: []int{1, 200, 1000}, Processes: []int{1, 3}, AddedMillis: []float64{1, 0},
		Repeat: 3, Longest: 6 * time.Second, Shortest: time.Second,
	}
	rate := func(float64) float64 { return 400 }
	trials := plan.Trials(2, rate, rand.New(rand.NewPCG(1, 2)))
	count := map[string]int{}
	var group []string
	for _, h := range trials {
		count[h.Contestant.Name]++
		if h.Repetition != 2 || h.Window < time.Second || h.Window+h.Warmup > 6*time.Second || h.Processes > 1 && h.Buyers == 1 {
			t.Errorf("got %+v, want repetition 2 and a window within the bounds", h)
		}
		if h.Condition == (result.Condition{AddedMillis: 1, Processes: 3, Buyers: 1000}) {
			group = append(group, h.Contestant.Name)
		}
	}
	for _, c := range plan.Contestants {
		if count[c.Name] != 10 {
			t.Errorf("%s in %d conditions; want 10", c.Name, count[c.Name])
		}
	}
	if !slices.Contains(group, "limit") || group[0] == "limit" && group[1] == "v1" && group[2] == "v2" {
		t.Errorf("got the order %v, want a random one with the limit", group)
	}
}
