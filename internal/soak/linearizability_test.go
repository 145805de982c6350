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

// newConcurrentRecord returns a record of one run, in which each sale overlaps with as many others as there are buyers.
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

// searchFindsOrder reports whether porcupine finds a legal order of the operations.
func searchFindsOrder(operations []operation) bool {
	s := excerpt{firstStock: initialStock, operations: operations}
	return porcupine.CheckOperations(s.model(), s.porcupineOperations())
}

// Histories of overlapping sales are changed at random. The single pass of unlinearizable must agree with porcupine's search about each.
func TestUnlinearizableAgreesWithSearch(t *testing.T) {
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
		histories, _ := newTimeline(r).operationsByRun()
		operations := histories["A"]
		want := searchFindsOrder(operations)
		if got := len(unlinearizable(operations)) == 0; got != want {
			t.Fatalf("linearizable: got %t, want %t: %+v", got, want, operations)
		}
		verdicts[want]++
	}
	if verdicts[true] < 200 || verdicts[false] < 200 {
		t.Errorf("got %v histories by verdict, want at least 200 of both", verdicts)
	}
}

// A sale of unknown outcome may take effect at any time after its request, also long after its answer.
func TestSaleOfUnknownOutcomeMayTakeEffectLate(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Record)
		want   bool
	}{
		"unchanged":          {change: func(*Record) {}, want: true},
		"answered too early": {change: func(r *Record) { r.Sales[50].End = r.Sales[40].Start }},
		"unknown outcome, and made": {change: func(r *Record) {
			r.Sales[50].End = r.Sales[40].Start
			r.Sales[50].answered(503, "outcome_unknown")
		}, want: true},
		"unknown outcome, without an id": {
			change: func(r *Record) { r.Sales[50].answered(0, errLeft.Error()); r.Sales[50].OrderID = "" }, want: true,
		},
		"unknown outcome, and made before its request": {change: func(r *Record) {
			r.Sales[50].Start, r.Sales[50].End = r.Sales[90].Start, r.Sales[90].End
			r.Sales[50].answered(503, "outcome_unknown")
		}},
		"unknown outcome, and not made": {change: func(r *Record) {
			r.Sales[99].answered(503, "outcome_unknown")
			r.dropOrder(99)
		}, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newConcurrentRecord(100, 5)
			test.change(&r)
			histories, _ := newTimeline(r).operationsByRun()
			if got := unlinearizable(histories["A"]); len(got) == 0 != test.want {
				t.Errorf("operations %v are illegal, want the history linearizable: %t", got, test.want)
			}
		})
	}
}

// The picture shows the part that is not linearizable, or else the one around the worst fault.
func TestDrawShowsBrokenPartOrWorstFault(t *testing.T) {
	broken := newConcurrentRecord(3000, 10)
	broken.swapStock(1500, 1600)
	whole := newConcurrentRecord(3000, 10)
	whole.Faults = []Injected{{
		Fault: Fault{Kind: "cut-replica"}, Victim: "r2", TargetsHit: 7, LastReadAt: atSecond(1.5), Begin: atSecond(1.5), End: atSecond(1.51),
	}}
	for name, test := range map[string]struct {
		record Record
		wants  []string
	}{
		"broken": {record: broken, wants: []string{"is not linearizable", thousands(int64(initialStock - 1500))}},
		"whole": {record: whole, wants: []string{
			"is linearizable: cut-replica at 1.50s", "cut-replica r2", thousands(int64(initialStock - 1500)), "token 1501, r1",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			result := Examine(test.record)
			if n := len(result.excerpt.operations); n == 0 || n > 2*excerptSize {
				t.Errorf("%d operations are drawn, want from 1 to %d", n, 2*excerptSize)
			}
			var page bytes.Buffer
			if err := result.Draw(&page); err != nil {
				t.Error(err)
			}
			for _, want := range test.wants {
				if !strings.Contains(page.String(), want) {
					t.Errorf("the picture lacks %q, want it in there", want)
				}
			}
		})
	}
}

func TestDrawSucceedsWithoutSales(t *testing.T) {
	var page bytes.Buffer
	if err := Examine(Record{Lock: "v10", Began: sessionStart, Ended: atSecond(1)}).Draw(&page); err != nil {
		t.Error(err)
	}
}

func TestPorcupineOperationsShareLanes(t *testing.T) {
	s := excerpt{operations: []operation{
		{call: 5, response: 9}, {call: 0, response: 4}, {call: 1, response: math.MaxInt64}, {call: 3, response: 6},
	}}
	var got []int
	for _, operation := range s.porcupineOperations() {
		got = append(got, operation.ClientId)
	}
	if want := []int{0, 1, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("lanes %v, want %v, in the order of the calls", got, want)
	}
}

// Half a million sales, ten minutes at more than 800 a second, are judged in a minute and a gigabyte.
func TestExamineIsFastForManySales(t *testing.T) {
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
		if check.Broken > 0 || check.Unchecked > 0 && !strings.HasPrefix(check.Rule, "each fault hit") {
			t.Errorf("got %+v, want the rule to hold", check)
		}
	}
	if took > time.Minute || memory.Sys > 1<<30 {
		t.Errorf("took %v and %d MB, want a minute and a gigabyte at most", took, memory.Sys>>20)
	}
}
