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

// The test program is its own child.
func TestMain(m *testing.M) {
	logging.Disable() // as main does
	if len(os.Args) > 1 && os.Args[1] == worker.Argument {
		os.Exit(run(context.Background(), os.Args[1:], contestants.Table(), os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

const (
	// maxTries is how many windows a cell is given, each twice as long as the one before: a busy machine may give a process none of its time
	// in a short one.
	maxTries = 6
	// minSegmentedSales sales tell how many requests one needs of a lock in segments, each of which is taken once.
	minSegmentedSales = 200
	// minSalesPerBuyer sales of a buyer tell how many requests one needs: those at the edges of a window may be counted without it.
	minSalesPerBuyer = 4
)

// TestContestantsNeedFewRequests is the short mode. It asserts what a noisy machine cannot change: that sales are right, and how many requests they need. It
// asserts no times. A millisecond is added to each round trip, so that buyers really wait.
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
	there, err := testbed.Servers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range contestants.Table() {
		if err := c.Fits(there); err != nil {
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
				t.Logf("%s under %+v: %d sales in %v, and %d of the buyers never got in", c.Name, at, cell.Sales, window, cell.NeverServed)
			}
			switch {
			case err != nil:
				t.Fatal(err)
			case c.Kind == contestants.Library && (cell.Status == result.Hung || cell.Status == result.OK && cell.Sales == 0):
				t.Logf("%s under %+v hung, or sold nothing in so short a window: %s", c.Name, at, cell.Note)
			case cell.Status != result.OK || cell.Sales == 0 || sellsTooLittle(t, c, cell) || cell.Errors > 0:
				t.Errorf("%s under %+v: %+v", c.Name, at, cell)
			default:
				checkCounts(t, c, cell)
			}
		}
	}
}

// requestClass says how a lock is passed on, as far as requests tell.
type requestClass int

const (
	unbounded requestClass = iota // a library: nothing is promised
	limit
	polls
	looksFirst // it polls, and reads whose the lock is before it deletes it
	inLine     // one contender a process, who polls
	handedOn   // the same, and the process passes the lock on to its next sale
	onNodes    // the same, on several servers
	handedOver // from process to process, too
	kept       // the same, and the process keeps it until another asks
	segments   // several of these: fewer are in line for each
	atomic
	optimistic
)

// requestClassOf is the class of a contestant. A step is known by its title.
func requestClassOf(t *testing.T, c contestants.Contestant) requestClass {
	t.Helper()
	switch {
	case c.Kind == contestants.Limit:
		return limit
	case c.Kind == contestants.Library:
		return unbounded
	case c.Name == "atomic":
		return atomic
	case c.Name == "optimistic":
		return optimistic
	}
	known, found := map[string]requestClass{
		"SET NX, DEL": polls, "with an expiry": polls, "with an owner": looksFirst, "compare-and-delete in Lua": polls,
		"compare-and-delete, native": polls, "reentrant hash": polls, "renewed": polls, "fenced": polls, "in line": inLine,
		"handed on": handedOn, "handed over": handedOver, "cached": kept, "a lock for each segment": segments,
		"on a majority": onNodes,
	}[c.Title]
	if !found {
		t.Errorf("%s (%s): how many requests does it need? Name its class here", c.Name, c.Title)
	}
	return known
}

// bounds are the least and the most requests per sale.
type bounds struct{ all, lock [2]float64 }

// boundsOf are the bounds for one buyer, for several in one process, and for several in several processes.
func boundsOf(c requestClass) (alone, together, apart bounds) {
	none, some := [2]float64{0, 0}, [2]float64{0, 100}
	poll := bounds{[2]float64{4.3, 100}, [2]float64{2.3, 98}}
	two := bounds{[2]float64{3.9, 4.2}, [2]float64{1.9, 2.2}}  // lock, read, write, unlock
	seldom := bounds{[2]float64{1.9, 2.2}, [2]float64{0, 0.2}} // read, write, and now and then a word with Redis
	often := bounds{[2]float64{1.9, 3}, [2]float64{0, 1}}      // processes hand over; the slower the machine, the fewer are in line then
	crowd := bounds{[2]float64{1.9, 4}, [2]float64{0, 2}}      // one asks for all that are in line
	meet := bounds{[2]float64{1.9, 100}, some}                 // processes poll
	switch c {
	case limit:
		is := bounds{[2]float64{1.9, 2.1}, none}
		return is, is, is
	case atomic:
		is := bounds{[2]float64{0.9, 1.1}, none}
		return is, is, is
	case optimistic: // WATCH, GET, MULTI, SET, EXEC, and again after each conflict
		again := bounds{[2]float64{4.9, 100}, none}
		return bounds{[2]float64{4.9, 5.2}, none}, again, again
	case polls:
		return two, poll, poll
	case looksFirst:
		return bounds{[2]float64{4.9, 5.2}, [2]float64{2.9, 3.2}}, poll, poll
	case inLine:
		return two, two, meet
	case handedOn:
		return two, crowd, meet
	case onNodes: // SET on five nodes, GET, SET, unlock on five nodes
		return bounds{[2]float64{11.5, 12.5}, [2]float64{9.5, 10.5}}, crowd, meet
	case handedOver:
		return two, seldom, often
	case kept:
		return bounds{[2]float64{1.9, 2.2}, [2]float64{0, 0.1}}, seldom, often
	case segments:
		return seldom, seldom, bounds{[2]float64{1.9, 5}, [2]float64{0, 3}}
	case unbounded:
	}
	is := bounds{[2]float64{0, 1000}, [2]float64{0, 1000}}
	return is, is, is
}

// checkCounts holds a cell against what its contestant promises.
func checkCounts(t *testing.T, c contestants.Contestant, cell result.Cell) {
	t.Helper()
	is := requestClassOf(t, c)
	alone, together, apart := boundsOf(is)
	want := together
	switch {
	case cell.Buyers == 1:
		want = alone
	case cell.Processes > 1:
		want = apart
	}
	// at an end of the window the requests of each buyer's sale may be counted without it, or it without them
	edges := float64(cell.Buyers) / float64(cell.Sales)
	for what, n := range map[string]struct {
		got  float64
		want [2]float64
	}{"requests": {cell.Requests, want.all}, "requests of the lock": {cell.LockRequests, want.lock}} {
		atEdge := max(n.want[0], 1)
		if is == kept {
			atEdge = max(atEdge, 2) // who begins to keep the lock takes it, and listens
		}
		if edge := atEdge * edges; n.got < n.want[0]-edge || n.got > n.want[1]+edge {
			t.Errorf("%s under %+v: %.3f %s per sale; want %.1f to %.1f", c.Name, cell.Condition, n.got, what, n.want[0], n.want[1])
		}
	}
	if sale := cell.Requests - cell.LockRequests; is != atomic && is != optimistic && (sale < 1.5-2*edges || sale > 2.5+2*edges) {
		t.Errorf("%s under %+v: %.3f requests per sale beside those of the lock; want a read and a write", c.Name, cell.Condition, sale)
	}
	queues := is == handedOver || is == kept || is == segments
	if wakes := cell.Publishes > 0; is != unbounded && wakes != (queues && cell.Processes > 1) {
		t.Errorf("%s under %+v: %.3f PUBLISH per sale; only a lock that is handed over between processes sends messages",
			c.Name, cell.Condition, cell.Publishes)
	}
	if starves(t, c, cell) {
		t.Errorf("%s under %+v: %d of the buyers never got in", c.Name, cell.Condition, cell.NeverServed)
	}
}

// sellsTooLittle reports whether a cell's sales are too few to tell how many requests one needs.
func sellsTooLittle(t *testing.T, c contestants.Contestant, cell result.Cell) bool {
	t.Helper()
	switch requestClassOf(t, c) {
	case unbounded:
		return false
	case segments:
		return cell.Sales < max(minSegmentedSales, minSalesPerBuyer*cell.Buyers)
	default:
		return cell.Sales < minSalesPerBuyer*cell.Buyers
	}
}

// starves reports whether buyers never got in under a lock that lets all of them in.
func starves(t *testing.T, c contestants.Contestant, cell result.Cell) bool {
	t.Helper()
	switch requestClassOf(t, c) {
	case handedOver, kept, segments:
		return cell.NeverServed > 0
	case onNodes, inLine, handedOn:
		return cell.NeverServed > 0 && cell.Processes == 1
	default:
		return false
	}
}
