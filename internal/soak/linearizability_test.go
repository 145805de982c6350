package soak

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"lockstep/internal/service/history"
	"lockstep/internal/test/suite"
)

// newConcurrentRecord is a run of so many sales by as many buyers as there may be in the time of one sale.
func newConcurrentRecord(sales, buyers int) Record {
	const each = time.Millisecond
	r := Record{Lock: "v10", Began: sessionStart, Ended: sessionStart.Add(time.Duration(sales) * each)}
	for i := range sales {
		when := sessionStart.Add(time.Duration(i) * each)
		id, stock := fmt.Sprint("order-", i), int64(initialStock-i)
		r.Sales = append(r.Sales, Sale{
			Start: when.Add(-each * time.Duration(buyers)), End: when.Add(each / 2), Buyer: i % buyers,
			Status: 200, OrderID: id, RunID: "A", Before: stock, After: stock - 1, Fence: int64(i + 1), Replica: "r1",
		})
		r.Orders = append(r.Orders, Entry{Run: "A", Order: history.Order{
			ID: id, RunID: "A", At: when, Before: stock, After: stock - 1, Fence: int64(i + 1),
		}})
		if i%200 == 199 {
			seen := snapshot("A", when.Sub(sessionStart).Seconds(), int64(i+1), int64(i+1))
			seen.Requested, seen.Received = when.Add(each/4), when.Add(each/4)
			r.Snapshots = append(r.Snapshots, seen)
		}
	}
	return r
}

// searchFindsOrder asks porcupine, which searches, whether some order fits.
func searchFindsOrder(changes []change) bool {
	s := excerpt{firstStock: initialStock, changes: changes}
	return porcupine.CheckOperations(s.model(), s.operations())
}

// Whatever is done to a history of buyers who were there at the same time, one pass down the stock finds an order if there is one.
func TestOnePassFindsWhatASearchFinds(t *testing.T) {
	random, verdicts := rand.New(rand.NewPCG(1, 2)), map[bool]int{}
	for range 2000 {
		r := newConcurrentRecord(12, 1+random.IntN(6))
		for i := range 3 {
			seen := snapshot("A", 0, 0, int64(random.IntN(13)))
			seen.Requested = sessionStart.Add(time.Duration(random.IntN(12_000)) * time.Microsecond)
			seen.Received = seen.Requested.Add(time.Duration(random.IntN(4000)) * time.Microsecond)
			if i < random.IntN(4) {
				r.Snapshots = append(r.Snapshots, seen)
			}
		}
		for range random.IntN(3) {
			i, j := random.IntN(12), random.IntN(12)
			switch random.IntN(5) {
			case 0:
				r.swapStock(i, j)
			case 1:
				r.Sales[i].End = r.Sales[i].Start.Add(time.Duration(random.IntN(4000)) * time.Microsecond)
			case 2:
				r.Sales[i].answered(503, "outcome_unknown")
			case 3:
				r.changeSale(i, func(s *Sale) { s.Before, s.After = s.Before+1, s.After+1 })
			default:
				r.Sales[i].Start = r.Sales[i].End.Add(-time.Duration(random.IntN(400)) * time.Microsecond)
			}
		}
		histories, _ := newTimeline(r).changesByRun()
		changes := histories["A"]
		want := searchFindsOrder(changes)
		if got := len(unlinearizable(changes)) == 0; got != want {
			t.Fatalf("%t; want %t: %+v", got, want, changes)
		}
		verdicts[want]++
	}
	if verdicts[true] < 200 || verdicts[false] < 200 {
		t.Errorf("%v; want enough of both", verdicts)
	}
}

// A sale in doubt may have come at any time since its request: also long after its buyer was told so.
func TestASaleInDoubtMayComeLate(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Record)
		want   bool
	}{
		"as it was":          {func(*Record) {}, true},
		"answered too early": {func(r *Record) { r.Sales[50].End = r.Sales[40].Start }, false},
		"in doubt, and came": {func(r *Record) {
			r.Sales[50].End = r.Sales[40].Start
			r.Sales[50].answered(503, "outcome_unknown")
		}, true},
		"in doubt, without a id": {func(r *Record) { r.Sales[50].answered(0, errLeft.Error()); r.Sales[50].OrderID = "" }, true},
		"in doubt, and came before it was asked for": {func(r *Record) {
			r.Sales[50].Start, r.Sales[50].End = r.Sales[90].Start, r.Sales[90].End
			r.Sales[50].answered(503, "outcome_unknown")
		}, false},
		"in doubt, and did not come": {func(r *Record) {
			r.Sales[99].answered(503, "outcome_unknown")
			r.dropOrder(99)
		}, true},
	} {
		r := newConcurrentRecord(100, 5)
		c.change(&r)
		histories, _ := newTimeline(r).changesByRun()
		if got := unlinearizable(histories["A"]); len(got) == 0 != c.want {
			t.Errorf("%s: misfits %v; want it to fit: %t", name, got, c.want)
		}
	}
}

// The picture shows little, and what matters: the part where no order fits, or the one around the worst fault.
func TestThePictureShowsWhatMatters(t *testing.T) {
	broken := newConcurrentRecord(3000, 10)
	broken.swapStock(1500, 1600)
	whole := newConcurrentRecord(3000, 10)
	whole.Faults = []Injected{{
		Fault: Fault{Kind: "cut-replica"}, Victim: "r2", Caught: 7, Read: atSecond(1.5), Begin: atSecond(1.5), End: atSecond(1.51),
	}}
	for name, c := range map[string]struct {
		record Record
		wants  []string
	}{
		"broken": {broken, []string{"does not fit into one order", thousands(int64(initialStock - 1500))}},
		"whole": {whole, []string{
			"fits into one order: cut-replica at 1.50s", "cut-replica r2", thousands(int64(initialStock - 1500)), "token 1501, r1",
		}},
	} {
		result := Examine(c.record)
		if n := len(result.excerpt.changes); n == 0 || n > 2*pictureSize {
			t.Errorf("%s: %d changes are drawn", name, n)
		}
		var page bytes.Buffer
		if err := result.Draw(&page); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, want := range c.wants {
			if !strings.Contains(page.String(), want) {
				t.Errorf("%s: the picture does not say %q", name, want)
			}
		}
	}
}

// Without a sale there is a picture of nothing.
func TestAPictureOfNothing(t *testing.T) {
	var page bytes.Buffer
	if err := Examine(Record{Lock: "v10", Began: sessionStart, Ended: atSecond(1)}).Draw(&page); err != nil {
		t.Error(err)
	}
}

func TestLanes(t *testing.T) {
	s := excerpt{changes: []change{
		{call: 5, response: 9}, {call: 0, response: 4}, {call: 1, response: math.MaxInt64}, {call: 3, response: 6},
	}}
	var got []int
	for _, operation := range s.operations() {
		got = append(got, operation.ClientId)
	}
	if !slices.Equal(got, []int{0, 1, 2, 0}) { // in the order of their beginnings
		t.Errorf("%v", got)
	}
}

// Half a million sales, ten minutes at more than 800 a second, are judged in a minute and a gigabyte.
func TestManySalesAreJudgedSoon(t *testing.T) {
	sales := 20_000
	if suite.Long {
		sales = 500_000
	}
	r := newConcurrentRecord(sales, 50)
	began := time.Now()
	result := Examine(r)
	took := time.Since(began)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	t.Logf("%d sales: %v, %d MB", sales, took, memory.Sys>>20)
	for _, check := range result.Rules {
		if check.Broken > 0 || check.Unchecked > 0 && !strings.HasPrefix(check.Rule, "every fault hit") {
			t.Errorf("%+v", check)
		}
	}
	if took > time.Minute || memory.Sys > 1<<30 {
		t.Errorf("%v, %d MB; want a minute and a gigabyte at most", took, memory.Sys>>20)
	}
}
