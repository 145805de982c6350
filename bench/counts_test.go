package main

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9/logging"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/race"
	"lockstep/bench/internal/result"
	"lockstep/bench/internal/worker"
	"lockstep/internal/test/suite"
)

// TestMain also runs this test program as a worker process.
func TestMain(m *testing.M) {
	logging.Disable() // as in main
	if len(os.Args) > 1 && os.Args[1] == worker.Argument {
		os.Exit(run(context.Background(), os.Args[1:], contestants.Table(), os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

const (
	// maxTries is the number of windows for a cell, each twice as long as the one before, because a busy machine may not run a process at all
	// in a short one.
	maxTries = 6
	// minSegmentedSales is the number of sales after which the first use of each segment hardly counts.
	minSegmentedSales = 200
	// minSalesPerBuyer is the number of sales after which the requests at the edges of a window hardly count.
	minSalesPerBuyer = 4
)

// TestContestantsNeedFewRequests checks what a busy machine cannot change: that sales are correct, and the number of requests that they
// need. It checks no times. A millisecond is added to each round trip, so that buyers really wait.
func TestContestantsNeedFewRequests(t *testing.T) {
	suite.Needs(t, "redis-server")
	settings := result.Settings{RetryMillis: 20, TTLMillis: 10_000, WaitMillis: 60_000}
	testbed, err := race.Open(t.Context(), "", settings, os.Args[0], worker.Argument)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := testbed.Close(); err != nil {
			t.Error(err)
		}
	})
	servers, err := testbed.Servers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range contestants.Table() {
		if err := c.Fits(servers); err != nil {
			t.Log(err)
			continue
		}
		for _, at := range []result.Condition{
			{AddedMillis: 1, Processes: 1, Buyers: 1},
			{AddedMillis: 1, Processes: 1, Buyers: 16},
			{AddedMillis: 1, Processes: 3, Buyers: 16},
		} {
			if c.OffPage && at.Processes > 1 {
				continue
			}
			var cell result.Cell
			var err error
			for try := range maxTries {
				window := 600 * time.Millisecond << try
				cell, _, err = testbed.Run(t.Context(), race.Trial{Contestant: c, Condition: at, Warmup: window / 3, Window: window})
				if !sellsTooLittle(t, c, cell) && !starves(t, c, cell) {
					break
				}
				t.Logf("%s under %+v: %d sales in %v, and %d buyers were never served", c.Name, at, cell.Sales, window, cell.NeverServed)
			}
			switch {
			case err != nil:
				t.Fatal(err)
			case c.Kind == contestants.Library && (cell.Status == result.Hung || cell.Status == result.OK && cell.Sales == 0):
				t.Logf("%s under %+v hung, or sold nothing in so short a window: %s", c.Name, at, cell.Note)
			case cell.Status != result.OK || cell.Sales == 0 || sellsTooLittle(t, c, cell) || cell.Errors > 0:
				t.Errorf("%s under %+v: got %+v, want enough sales without errors", c.Name, at, cell)
			default:
				checkCounts(t, c, cell)
			}
		}
	}
}

// requestClass is a class of locks with the same number of requests.
type requestClass int

const (
	unbounded requestClass = iota // a library, for which nothing is promised
	limitClass
	polling
	comparesFirst // polling, with a read of the owner before the lock is deleted
	localQueue    // a single polling contender of each process
	handedOn      // localQueue, where the process hands the lock on to its next sale
	onMajority    // handedOn, on several servers
	handedOver    // handedOn, also from process to process
	cached        // handedOver, where a process keeps the lock until another asks for it
	segmented     // several cached locks, each with fewer waiters
	atomicScript
	checkAndSet
)

// requestClassOf returns the class of a contestant. It knows steps by their titles.
func requestClassOf(t *testing.T, c contestants.Contestant) requestClass {
	t.Helper()
	switch {
	case c.Kind == contestants.Limit:
		return limitClass
	case c.Kind == contestants.Library:
		return unbounded
	case c.Name == "atomic":
		return atomicScript
	case c.Name == "optimistic":
		return checkAndSet
	}
	class, ok := map[string]requestClass{
		"SET NX, DEL": polling, "with an expiry": polling, "with an owner": comparesFirst, "compare-and-delete in Lua": polling,
		"compare-and-delete, native": polling, "reentrant hash": polling, "renewed": polling, "fenced": polling, "in line": localQueue,
		"handed on": handedOn, "handed over": handedOver, "cached": cached, "a lock for each segment": segmented,
		"on a majority": onMajority,
	}[c.Title]
	if !ok {
		t.Errorf("%s (%s) has no class, want one in this table", c.Name, c.Title)
	}
	return class
}

// requestBounds has lower and upper bounds for the requests per sale.
type requestBounds struct{ all, lock [2]float64 }

// boundsOf returns the bounds for one buyer, for several in one process, and for several in several processes.
func boundsOf(c requestClass) (alone, together, apart requestBounds) {
	none, some := [2]float64{0, 0}, [2]float64{0, 100}
	poll := requestBounds{[2]float64{4.3, 100}, [2]float64{2.3, 98}}
	two := requestBounds{[2]float64{3.9, 4.2}, [2]float64{1.9, 2.2}}  // lock, read, write, unlock
	seldom := requestBounds{[2]float64{1.9, 2.2}, [2]float64{0, 0.2}} // read, write, and few requests of the lock
	often := requestBounds{[2]float64{1.9, 3}, [2]float64{0, 1}}      // processes hand over; on a slow machine fewer buyers wait
	crowd := requestBounds{[2]float64{1.9, 4}, [2]float64{0, 2}}      // one request of the lock for all waiters
	meet := requestBounds{[2]float64{1.9, 100}, some}                 // processes poll
	switch c {
	case limitClass:
		b := requestBounds{[2]float64{1.9, 2.1}, none}
		return b, b, b
	case atomicScript:
		b := requestBounds{[2]float64{0.9, 1.1}, none}
		return b, b, b
	case checkAndSet: // WATCH, GET, MULTI, SET, EXEC, and again after each conflict
		again := requestBounds{[2]float64{4.9, 100}, none}
		return requestBounds{[2]float64{4.9, 5.2}, none}, again, again
	case polling:
		return two, poll, poll
	case comparesFirst:
		return requestBounds{[2]float64{4.9, 5.2}, [2]float64{2.9, 3.2}}, poll, poll
	case localQueue:
		return two, two, meet
	case handedOn:
		return two, crowd, meet
	case onMajority: // SET on five nodes, GET, SET, unlock on five nodes
		return requestBounds{[2]float64{11.5, 12.5}, [2]float64{9.5, 10.5}}, crowd, meet
	case handedOver:
		return two, seldom, often
	case cached:
		return requestBounds{[2]float64{1.9, 2.2}, [2]float64{0, 0.1}}, seldom, often
	case segmented:
		return seldom, seldom, requestBounds{[2]float64{1.9, 5}, [2]float64{0, 3}}
	case unbounded:
	}
	b := requestBounds{[2]float64{0, 1000}, [2]float64{0, 1000}}
	return b, b, b
}

// checkCounts checks the requests of a cell.
func checkCounts(t *testing.T, c contestants.Contestant, cell result.Cell) {
	t.Helper()
	class := requestClassOf(t, c)
	alone, together, apart := boundsOf(class)
	want := together
	switch {
	case cell.Buyers == 1:
		want = alone
	case cell.Processes > 1:
		want = apart
	}
	// at both ends of the window a sale may be counted without its requests, or the reverse, for each buyer
	edges := float64(cell.Buyers) / float64(cell.Sales)
	for what, n := range map[string]struct {
		got  float64
		want [2]float64
	}{"requests": {got: cell.Requests, want: want.all}, "requests of the lock": {got: cell.LockRequests, want: want.lock}} {
		atEdge := max(n.want[0], 1)
		if class == cached {
			atEdge = max(atEdge, 2) // locking and subscribing before the lock is cached
		}
		if edge := atEdge * edges; n.got < n.want[0]-edge || n.got > n.want[1]+edge {
			t.Errorf("%s under %+v: %.3f %s per sale; want %.1f to %.1f", c.Name, cell.Condition, n.got, what, n.want[0], n.want[1])
		}
	}
	if sale := cell.Requests - cell.LockRequests; class != atomicScript && class != checkAndSet && (sale < 1.5-2*edges || sale > 2.5+2*edges) {
		t.Errorf("%s under %+v: %.3f requests per sale beside those of the lock; want a read and a write", c.Name, cell.Condition, sale)
	}
	queues := class == handedOver || class == cached || class == segmented
	if wakes := cell.Publishes > 0; class != unbounded && wakes != (queues && cell.Processes > 1) {
		t.Errorf("%s under %+v: %.3f PUBLISH per sale, want them only for a lock that is handed over between processes",
			c.Name, cell.Condition, cell.Publishes)
	}
	if starves(t, c, cell) {
		t.Errorf("%s under %+v: %d buyers were never served, want none", c.Name, cell.Condition, cell.NeverServed)
	}
}

// sellsTooLittle reports whether a cell has too few sales to measure the requests of one.
func sellsTooLittle(t *testing.T, c contestants.Contestant, cell result.Cell) bool {
	t.Helper()
	switch requestClassOf(t, c) {
	case unbounded:
		return false
	case segmented:
		return cell.Sales < max(minSegmentedSales, minSalesPerBuyer*cell.Buyers)
	default:
		return cell.Sales < minSalesPerBuyer*cell.Buyers
	}
}

// starves reports whether buyers were never served by a lock that should serve all of them.
func starves(t *testing.T, c contestants.Contestant, cell result.Cell) bool {
	t.Helper()
	switch requestClassOf(t, c) {
	case handedOver, cached, segmented:
		return cell.NeverServed > 0
	case onMajority, localQueue, handedOn:
		return cell.NeverServed > 0 && cell.Processes == 1
	default:
		return false
	}
}
