package soak

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"lockstep/internal/service/history"
	"lockstep/internal/test/suite"
)

// atOnce is a run of so many sales by as many buyers as there may be in the time of one sale.
func atOnce(sales, buyers int) Record {
	const each = time.Millisecond
	r := Record{Lock: "v9", Expiry: time.Second, Began: began, Ended: began.Add(time.Duration(sales) * each)}
	for i := range sales {
		when := began.Add(time.Duration(i) * each)
		id, stock := fmt.Sprint("order-", i), int64(initialStock-i)
		r.Sales = append(r.Sales, Sale{
			Start: when.Add(-each * time.Duration(buyers)), End: when.Add(each / 2), Buyer: i % buyers,
			Status: 200, OrderID: id, RunID: "A", Before: stock, After: stock - 1, Fence: int64(i + 1), Replica: "r1",
		})
		r.Orders = append(r.Orders, Entry{Run: "A", Order: history.Order{
			ID: id, RunID: "A", At: when, Before: stock, After: stock - 1, Fence: int64(i + 1),
		}})
		if i%200 == 199 {
			seen := look("A", when.Sub(began).Seconds(), int64(i+1), int64(i+1))
			seen.Asked, seen.At = when.Add(each/4), when.Add(each/4)
			r.Looks = append(r.Looks, seen)
		}
	}
	return r
}

// Windows go on where the one before ends, leave nothing out, and never part sales that found the same stock.
func TestWindows(t *testing.T) {
	r := atOnce(1000, 10)
	r.sold(300, func(s *Sale) { s.Before, s.After = s.Before+1, s.After+1 }) // as 299
	stories, left := storiesOf(r, indexOf(r))
	if len(stories) != 1 || left != 0 {
		t.Fatalf("%d stories, %d left out", len(stories), left)
	}
	all, level, readings, sales := slices.Collect(stories[0].windows(300)), int64(initialStock), 0, 0
	for _, w := range all {
		if w.first != level {
			t.Errorf("a window begins with %d; want %d", w.first, level)
		}
		level = w.changes[w.sales()-1].after
		sales += w.sales()
		readings += len(w.changes) - w.sales()
	}
	if len(all) != 4 || all[0].sales() != 301 || sales != 1000 || readings != 5 {
		t.Errorf("%d windows, the first of %d sales, %d sales, %d readings", len(all), all[0].sales(), sales, readings)
	}
}

// A sale in doubt may have come at any time since its request: also long after its buyer was told so.
func TestASaleInDoubtMayComeLate(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Record)
		want   porcupine.CheckResult
	}{
		"as it was":          {func(*Record) {}, porcupine.Ok},
		"answered too early": {func(r *Record) { r.Sales[50].End = r.Sales[40].Start }, porcupine.Illegal},
		"in doubt, and came": {func(r *Record) {
			r.Sales[50].End = r.Sales[40].Start
			r.Sales[50].told(503, "outcome_unknown")
		}, porcupine.Ok},
		"in doubt, without a id": {func(r *Record) { r.Sales[50].told(0, left); r.Sales[50].OrderID = "" }, porcupine.Ok},
		"in doubt, and came before it was asked for": {func(r *Record) {
			r.Sales[50].Start, r.Sales[50].End = r.Sales[90].Start, r.Sales[90].End
			r.Sales[50].told(503, "outcome_unknown")
		}, porcupine.Illegal},
		"in doubt, and did not come": {func(r *Record) {
			r.Sales[99].told(503, "outcome_unknown")
			r.drop(99)
		}, porcupine.Ok},
	} {
		r := atOnce(100, 5)
		c.change(&r)
		stories, _ := storiesOf(r, indexOf(r))
		for w := range stories[0].windows(windowSize) {
			if got := w.check(time.Minute); got != c.want {
				t.Errorf("%s: %s; want %s", name, got, c.want)
			}
		}
	}
}

// The picture shows little, and what matters: the part where no order fits, or the one around the worst fault.
func TestThePictureShowsWhatMatters(t *testing.T) {
	broken := atOnce(3000, 10)
	broken.swap(1500, 1600)
	whole := atOnce(3000, 10)
	whole.Faults = []Injected{{
		Fault: Fault{Kind: CutReplica}, Victim: "r2", Caught: 7, Read: at(1.5), Begin: at(1.5), End: at(1.51),
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
		if n := len(result.Window.changes); n == 0 || n > 2*pictureSize {
			t.Errorf("%s: %d changes are drawn", name, n)
		}
		var page bytes.Buffer
		if err := result.Picture(&page); err != nil {
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
	if err := Examine(Record{Lock: "v9", Expiry: time.Second, Began: began, Ended: at(1)}).Picture(&page); err != nil {
		t.Error(err)
	}
}

func TestLanes(t *testing.T) {
	changes := []change{{called: 5, returned: 9}, {called: 0, returned: 4}, {called: 1, returned: math.MaxInt64}, {called: 3, returned: 6}}
	if got := lanes(changes); !slices.Equal(got, []int{0, 0, 1, 2}) {
		t.Errorf("%v", got)
	}
}

// Half a million sales, ten minutes at more than 800 a second, are judged in a minute and a gigabyte.
func TestManySalesAreJudgedSoon(t *testing.T) {
	sales := 20_000
	if suite.Long {
		sales = 500_000
	}
	r := atOnce(sales, 50)
	began := time.Now()
	result := Examine(r)
	took := time.Since(began)
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	t.Logf("%d sales: %v, %d MB", sales, took, memory.Sys>>20)
	for _, check := range result.Checks {
		if check.Broken > 0 || check.Unchecked > 0 && !strings.HasPrefix(check.Rule, "every fault hit") {
			t.Errorf("%+v", check)
		}
	}
	if took > longest || memory.Sys > 1<<30 {
		t.Errorf("%v, %d MB; want a minute and a gigabyte at most", took, memory.Sys>>20)
	}
}
