package soak

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/internal/service/history"
	"lockstep/internal/verdict"
)

// sessionStart is when hand-made sessions begin.
var sessionStart = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func atSecond(seconds float64) time.Time {
	return sessionStart.Add(time.Duration(seconds * float64(time.Second)))
}

// newValidRecord is twenty seconds in which all is well, at a hundred sales a second: two runs, for Redis is emptied at ten seconds; before, at
// five, a replica is stopped for two seconds.
func newValidRecord() Record {
	r := Record{Lock: "v9", Began: sessionStart, Ended: atSecond(20), Faults: []Injected{
		{Fault: Fault{Kind: "stop-replica", For: 2 * time.Second}, Victim: "r1", Caught: 1, Read: atSecond(4.9), Begin: atSecond(5), End: atSecond(7)},
		{Fault: Fault{Kind: "empty-redis"}, Caught: 1, Read: atSecond(11.9), Begin: atSecond(11.995), End: atSecond(12)},
	}}
	left := map[string]int64{"A": initialStock, "B": initialStock}
	for i := range 2000 {
		when, id, run := atSecond(float64(i)/100), fmt.Sprint("order-", i), "A"
		if !when.Before(atSecond(12)) {
			run = "B"
		}
		left[run]--
		r.Sales = append(r.Sales, Sale{
			Start: when.Add(-5 * time.Millisecond), End: when.Add(time.Millisecond), Status: 200, OrderID: id, RunID: run, Replica: "r1",
			Before: left[run] + 1, After: left[run], Fence: int64(i) + 1,
		})
		r.Orders = append(r.Orders, Entry{Run: run, Order: history.Order{
			ID: id, RunID: run, At: when, Before: left[run] + 1, After: left[run], Fence: int64(i) + 1,
		}})
	}
	r.Snapshots = []Snapshot{snapshot("A", 4.9, 490, 490), snapshot("A", 11.9, 1190, 1190), snapshot("B", 20, 800, 800)}
	return r
}

func snapshot(run string, seconds float64, sold, gone int64) Snapshot {
	return Snapshot{Requested: atSecond(seconds), Received: atSecond(seconds), Orders: sold, Tally: history.Tally{
		Run: history.Run{ID: run, Lock: "v9", Initial: initialStock}, Sold: sold, Remaining: initialStock - gone,
	}}
}

// answered changes what the buyer of a sale was told.
func (s *Sale) answered(status int, code string) {
	s.Status, s.Code, s.RunID = status, code, ""
}

// dropOrder takes a sale's order out of its ledger.
func (r *Record) dropOrder(i int) { r.Orders = slices.Delete(r.Orders, i, i+1) }

// changeSale changes a sale, as its buyer was told and in the ledger.
func (r *Record) changeSale(i int, change func(*Sale)) {
	sale, order := &r.Sales[i], &r.Orders[i]
	change(sale)
	order.Before, order.After, order.Fence = sale.Before, sale.After, sale.Fence
}

// swapStock gives two sales the stock of each other.
func (r *Record) swapStock(i, j int) {
	a, b := r.Sales[i], r.Sales[j]
	r.changeSale(i, func(s *Sale) { s.Before, s.After = b.Before, b.After })
	r.changeSale(j, func(s *Sale) { s.Before, s.After = a.Before, a.After })
}

// removeSales takes the sales of a stretch away, with their orders.
func (r *Record) removeSales(from, to float64) {
	taken := map[string]bool{}
	r.Orders = slices.DeleteFunc(r.Orders, func(e Entry) bool {
		taken[e.ID] = !e.At.Before(atSecond(from)) && e.At.Before(atSecond(to))
		return taken[e.ID]
	})
	r.Sales = slices.DeleteFunc(r.Sales, func(s Sale) bool { return taken[s.OrderID] })
	r.renumber()
}

// renumber lets the orders of each run take one piece each, and everybody see that.
func (r *Record) renumber() {
	sold, told := map[string]int64{}, map[string]history.Order{}
	for i := range r.Orders {
		order := &r.Orders[i]
		order.Before = initialStock - sold[order.Run]
		order.After = order.Before - 1
		sold[order.Run]++
		told[order.ID] = order.Order
	}
	for i := range r.Sales {
		r.Sales[i].Before, r.Sales[i].After = told[r.Sales[i].OrderID].Before, told[r.Sales[i].OrderID].After
	}
	for i, seen := range r.Snapshots {
		n := int64(0)
		for _, order := range r.Orders {
			if order.Run == seen.ID && !order.At.After(seen.Received) {
				n++
			}
		}
		r.Snapshots[i] = snapshot(seen.ID, seen.Received.Sub(sessionStart).Seconds(), n, n)
	}
}

// repeatSale lets the buyer of a sale of run A repeat it, and buy in run B, too.
func (r *Record) repeatSale(i int) {
	r.Orders = append(r.Orders, r.Orders[i])
	order := &r.Orders[len(r.Orders)-1]
	order.Run, order.RunID, order.Before, order.After, order.Fence = "B", "B", initialStock-800, initialStock-801, 2001
	order.At = atSecond(20)
	sale := &r.Sales[i]
	sale.HasKey, sale.Repeats, sale.RunID, sale.End = true, 1, "B", atSecond(20.1)
	sale.Before, sale.After, sale.Fence = order.Before, order.After, order.Fence
	r.Snapshots[2] = snapshot("B", 20, 800, 800)
}

// Each rule is broken once; nothing else is said to be broken but what cannot hold then.
func TestJudge(t *testing.T) {
	const (
		soldOnce  = "a sale answered 200 has its one order"
		refused   = "a sale that was refused has no order"
		doubts    = "a buyer in doubt finds"
		once      = "a buyer who repeats a sale with its key is sold to once"
		asked     = "an order was sold to somebody"
		asTold    = "an order is in the ledger of its run as its buyer was told"
		felt      = "a run's stock fell by one"
		lost      = "no update is lost"
		costs     = "an update is lost by each fault that must"
		oneOrder  = "what the buyers and readers of the stock were told fits into one order"
		tokens    = "the stock fell in the order of the fencing tokens"
		comesBack = "sales go on within"
		bugs      = "nobody is answered 500"
		tested    = "every fault hit a sale"
	)
	for _, c := range []struct {
		what    string
		change  func(*Record)
		rule    string // that is broken or could not be checked; "" if none
		verdict verdict.Verdict
	}{
		{"all is well", func(*Record) {}, "", verdict.Pass},

		{"a sold order is in no ledger", func(r *Record) { r.dropOrder(1999) }, soldOnce, verdict.Fail},
		{"a sold order is in two ledgers", func(r *Record) {
			r.Orders = append(r.Orders, r.Orders[1195])
			order := &r.Orders[2000]
			order.Run, order.RunID, order.Before, order.After, order.Fence = "B", "B", initialStock-800, initialStock-801, 2001
		}, soldOnce + "|" + asTold, verdict.Fail},
		{"two buyers are told of one order", func(r *Record) {
			r.Sales[1999].OrderID = r.Sales[1998].OrderID
		}, soldOnce + "|" + asked + "|" + asTold + "|" + oneOrder, verdict.Fail},
		{"a ledger was destroyed before it was read", func(r *Record) { r.dropOrder(1195) }, "", verdict.Pass},
		{"a ledger was destroyed, but had been read", func(r *Record) { r.dropOrder(1180) }, soldOnce, verdict.Fail},
		{"an order was gone before anything was destroyed", func(r *Record) { r.dropOrder(550) }, soldOnce, verdict.Fail},

		{"lock_lost, and sold", func(r *Record) { r.Sales[50].answered(503, "lock_lost") }, refused, verdict.Fail},
		{"run_over, and sold", func(r *Record) { r.Sales[50].answered(503, "run_over") }, refused, verdict.Fail},
		{"lock_timeout, and sold", func(r *Record) { r.Sales[50].answered(503, "lock_timeout") }, refused, verdict.Fail},
		{"sold_out, and sold", func(r *Record) { r.Sales[50].answered(409, "sold_out") }, refused, verdict.Fail},
		{"redis_unavailable, and sold", func(r *Record) { r.Sales[50].answered(503, "redis_unavailable") }, refused, verdict.Fail},
		{"outcome_unknown, and sold", func(r *Record) { r.Sales[50].answered(503, "outcome_unknown") }, "", verdict.Pass},
		{"a refusal without an id", func(r *Record) {
			r.Sales = append(r.Sales, Sale{Start: atSecond(1), End: atSecond(2), Status: 503, Code: "lock_lost"})
		}, refused, verdict.Untested},
		{"no replica, so no id", func(r *Record) {
			r.Sales = append(r.Sales, Sale{Start: atSecond(1), End: atSecond(2), Status: 503, Code: "no_replica"})
		}, "", verdict.Pass},

		{"in doubt, and found", func(r *Record) { r.Doubts = []Doubt{{OrderID: "order-1999", Found: true}} }, "", verdict.Pass},
		{"in doubt, and there is none", func(r *Record) { r.Doubts = []Doubt{{OrderID: "x"}} }, "", verdict.Pass},
		{"in doubt, and found where there is none", func(r *Record) { r.Doubts = []Doubt{{OrderID: "x", Found: true}} }, doubts, verdict.Fail},
		{"in doubt, and not found", func(r *Record) { r.Doubts = []Doubt{{OrderID: "order-1999"}} }, doubts, verdict.Fail},
		{"in doubt, and not found as Redis was emptied since", func(r *Record) { r.Doubts = []Doubt{{OrderID: "order-50"}} }, "", verdict.Pass},
		{"in doubt, and no answer to that either", func(r *Record) {
			r.Doubts = []Doubt{{OrderID: "x", Error: "503"}}
		}, doubts, verdict.Untested},

		{"a repeat is sold for the second time", func(r *Record) {
			r.repeatSale(1195)
			r.Faults[1].Kind = "new-run"
		}, soldOnce + "|" + once + "|" + asTold, verdict.Fail},
		{"a repeat is sold for the second time, for Redis had forgotten the first", func(r *Record) { r.repeatSale(1195) }, "", verdict.Pass},
		{"a buyer was told of another order than its key's", func(r *Record) {
			r.Sales[50].HasKey, r.Sales[50].OtherOrderID = true, r.Sales[50].OrderID
		}, once, verdict.Fail},
		{"a buyer had to repeat", func(r *Record) { r.Sales[50].HasKey, r.Sales[50].Repeats = true, 2 }, "", verdict.Pass},

		{"an order that nobody asked for", func(r *Record) { r.Sales = slices.Delete(r.Sales, 50, 51) }, asked, verdict.Fail},
		{"a buyer went away without an answer", func(r *Record) {
			r.Sales[50].answered(0, "no answer in time")
			r.Sales[50].OrderID = ""
		}, "", verdict.Pass},
		{"a buyer went away who came after the order was written", func(r *Record) {
			r.Sales[50].answered(0, "no answer in time")
			r.Sales[50].OrderID, r.Sales[50].Start = "", atSecond(3)
		}, asked, verdict.Fail},
		{"a buyer went away long before the order was written", func(r *Record) {
			r.Sales[1999].answered(502, "bad_gateway")
			r.Sales[1999].OrderID, r.Sales[1999].Start, r.Sales[1999].End = "", atSecond(1), atSecond(2)
		}, asked, verdict.Fail},
		{"a buyer went away shortly before the order was written", func(r *Record) {
			r.Sales[1999].answered(502, "bad_gateway")
			r.Sales[1999].OrderID, r.Sales[1999].Start, r.Sales[1999].End = "", atSecond(9), atSecond(10)
		}, "", verdict.Pass},
		{"two orders for one buyer who was told nothing", func(r *Record) {
			r.Sales[50].answered(502, "bad_gateway")
			r.Sales[50].OrderID = ""
			r.Sales = slices.Delete(r.Sales, 60, 61)
		}, asked, verdict.Fail},

		{"an order of another run in the ledger", func(r *Record) { r.Orders[1300].RunID = "A" }, asTold, verdict.Fail},
		{"a buyer was told another run", func(r *Record) { r.Sales[1300].RunID = "A" }, asTold + "|" + oneOrder, verdict.Fail},

		{"a lost update", func(r *Record) { r.Snapshots[1] = snapshot("A", 11.9, 1190, 1189) }, felt + "|" + lost, verdict.Fail},
		{"a lost update before the last look", func(r *Record) {
			r.Snapshots[0] = snapshot("A", 4.9, 490, 489)
		}, felt + "|" + lost + "|" + oneOrder, verdict.Fail},
		{"the stock fell without a sale", func(r *Record) { r.Snapshots[2] = snapshot("B", 20, 800, 801) }, felt + "|" + oneOrder, verdict.Fail},
		{"the stock fell without a sale, under a weak lock", func(r *Record) {
			r.Lock, r.Snapshots[1] = "v4", snapshot("A", 11.9, 1190, 1191)
		}, felt, verdict.Fail},
		{"more was sold than there was", func(r *Record) {
			r.Snapshots[2].Initial, r.Snapshots[2].Remaining = 700, -100
		}, felt + "|" + oneOrder, verdict.Fail},
		{"the run counts other than its ledger", func(r *Record) { r.Snapshots[2].Orders++ }, felt, verdict.Fail},
		{"two orders left the same stock", func(r *Record) { r.Orders[1999].After++ }, felt + "|" + asTold, verdict.Fail},
		{"the orders leave a gap", func(r *Record) { r.Orders[1999].After -= 7 }, felt + "|" + asTold, verdict.Fail},
		{"a weak lock's lost update, with a reason", func(r *Record) {
			r.Lock, r.Snapshots[1] = "v4", snapshot("A", 11.9, 1190, 1187)
		}, "", verdict.AsPredicted},
		{"a weak lock's lost update, and no reason in that run", func(r *Record) {
			r.Lock, r.Snapshots[2] = "v4", snapshot("B", 20, 800, 797)
		}, felt + "|" + oneOrder, verdict.Fail},
		{"a weak lock's lost update, and the stop was too short", func(r *Record) {
			r.Lock, r.Snapshots[1], r.Faults[0].For = "v4", snapshot("A", 11.9, 1190, 1187), 400*time.Millisecond
		}, felt, verdict.Fail},

		{"a weak lock's lost update, and the stop was in a later run", func(r *Record) {
			r.Lock, r.Snapshots[1] = "v4", snapshot("A", 11.9, 1190, 1187)
			r.Faults = append(r.Faults[1:], r.Faults[0])
			r.Faults[1].Read, r.Faults[1].Begin, r.Faults[1].End = atSecond(16.9), atSecond(17), atSecond(19)
		}, felt, verdict.Fail},

		{"a weak lock's lost update, long before the stop", func(r *Record) {
			r.Lock = "v4"
			r.Snapshots = []Snapshot{snapshot("A", 4, 400, 399), snapshot("A", 4.9, 490, 489), snapshot("A", 11.9, 1190, 1187), snapshot("B", 20, 800, 800)}
		}, felt, verdict.Fail},
		{"a weak lock's lost update, long after the stop", func(r *Record) {
			r.Lock = "v4"
			r.Snapshots = slices.Concat(r.Snapshots[:1], []Snapshot{
				snapshot("A", 9.5, 950, 949), snapshot("A", 10, 1000, 998), snapshot("A", 11.9, 1190, 1188),
			}, r.Snapshots[2:])
		}, felt, verdict.Fail},
		{"a weak lock's lost update that no look saw", func(r *Record) {
			r.Lock = "v4"
			r.Orders[1999].After++
		}, felt + "|" + asTold, verdict.Fail},
		{"a weak lock's buyer is told of a stock that was long gone, and there was no fault", func(r *Record) {
			r.Lock = "v4"
			r.swapStock(1060, 1070)
		}, oneOrder + "|" + tokens, verdict.Fail},

		{"nobody is sold to in the second that follows a stop", func(r *Record) { r.removeSales(5, 7.9) }, "", verdict.Pass},
		{"nobody is sold to as long as a replica is stopped", func(r *Record) { r.removeSales(5, 9.2) }, comesBack, verdict.Fail},
		{"the rate is back too late", func(r *Record) { r.removeSales(12, 15.1) }, comesBack, verdict.Fail},
		{"few sales for too long", func(r *Record) { r.removeSales(12, 13.95); r.removeSales(14.05, 16); r.removeSales(16.1, 18) }, comesBack, verdict.Untested},
		{"few sales to the end", func(r *Record) { r.removeSales(12, 13.9); r.removeSales(14.1, 16); r.removeSales(16.1, 21) }, comesBack, verdict.Untested},
		{"the rate is back in time", func(r *Record) { r.removeSales(12, 14.3) }, "", verdict.Pass},
		{"the rate never comes back", func(r *Record) { r.removeSales(12, 21) }, comesBack, verdict.Fail},
		{"the session ends before the rate is back", func(r *Record) { r.removeSales(12, 21); r.Ended = atSecond(13.5) }, comesBack, verdict.Untested},
		{"a slow second before a fault", func(r *Record) { r.removeSales(2, 3.5) }, "", verdict.Pass},

		{"a fault that must cost a weak lock an update, and did", func(r *Record) {
			r.Lock, r.Faults[0].Kind, r.Snapshots[1] = "v6", "stall-replica", snapshot("A", 11.9, 1190, 1189)
		}, "", verdict.AsPredicted},
		{"a fault that must cost a weak lock an update, and did not", func(r *Record) {
			r.Lock, r.Faults[0].Kind = "v6", "stall-replica"
		}, costs, verdict.Fail},
		{"a fault that costs a weaker lock an update", func(r *Record) { r.Lock, r.Faults[0].Kind = "v6", "late-write" }, "", verdict.Pass},

		{"a token came twice", func(r *Record) { r.changeSale(60, func(s *Sale) { s.Fence-- }) }, tokens, verdict.Fail},
		{"a token went back", func(r *Record) { r.changeSale(60, func(s *Sale) { s.Fence = 7 }) }, tokens, verdict.Fail},
		{"no token", func(r *Record) { r.changeSale(60, func(s *Sale) { s.Fence = 0 }) }, tokens, verdict.Fail},

		{"two buyers are told the same stock", func(r *Record) {
			r.changeSale(60, func(s *Sale) { s.Before, s.After = s.Before+1, s.After+1 })
		}, oneOrder + "|" + felt, verdict.Fail},
		{"a buyer is told of a stock that was long gone", func(r *Record) { r.swapStock(60, 70) }, oneOrder + "|" + tokens, verdict.Fail},
		{"a sale takes two pieces", func(r *Record) {
			r.changeSale(1999, func(s *Sale) { s.After-- })
			r.Snapshots[2] = snapshot("B", 20, 800, 801)
		}, oneOrder + "|" + felt, verdict.Fail},
		{"buyers who were there at the same time", func(r *Record) { r.Sales[60].End = atSecond(0.71) }, "", verdict.Pass},
		{"a window is answered before the one before it begins", func(r *Record) {
			r.Sales[999].Start, r.Sales[999].End = atSecond(10.1), atSecond(10.2)
		}, oneOrder, verdict.Fail},
		{"a reader sees what is long gone", func(r *Record) { r.Snapshots[0].Requested, r.Snapshots[0].Received = atSecond(5), atSecond(5.1) }, oneOrder, verdict.Fail},

		{"a bug", func(r *Record) {
			r.Sales = append(r.Sales, Sale{Start: atSecond(1), End: atSecond(2), Status: 500, Code: "internal", OrderID: "x"})
		}, bugs, verdict.Fail},
		{"a fault that did not take place", func(r *Record) { r.Faults[1].Error = "it hit nothing" }, tested, verdict.Untested},
		{"a fault that hit nobody", func(r *Record) { r.Faults[1].Caught = 0 }, tested, verdict.Untested},
		{"a fault that hit nobody, while a sale was a bit slow", func(r *Record) {
			r.Faults[0].Caught, r.Faults[0].For = 0, time.Second
			r.Faults[0].End = atSecond(6)
			r.Sales[550].End = r.Sales[550].Start.Add(50 * time.Millisecond)
		}, tested, verdict.Untested},
		{"a fault that kept one buyer waiting", func(r *Record) {
			r.Faults[0].Caught = 0
			r.Sales[550].End = r.Sales[550].Start.Add(1100 * time.Millisecond)
		}, "", verdict.Pass},
		{"no faults", func(r *Record) { r.Faults = nil }, tested, verdict.Untested},
		{"few sales before a fault", func(r *Record) {
			r.Faults[1].Read = atSecond(9.2) // a fifth of a second of calm
		}, tested, verdict.Untested},
	} {
		t.Run(c.what, func(t *testing.T) {
			record := newValidRecord()
			c.change(&record)
			result := Examine(record)
			if result.Verdict != c.verdict {
				t.Errorf("%s; want %s", result.Verdict, c.verdict)
			}
			for _, check := range result.Rules {
				hit := check.Broken+check.Unchecked > 0
				expected := slices.ContainsFunc(strings.Split(c.rule, "|"), func(rule string) bool {
					return rule != "" && strings.HasPrefix(check.Rule, rule)
				})
				if hit != expected {
					t.Errorf("%+v; want it hit: %t", check, expected)
				}
			}
		})
	}
}

// What is excused is counted.
func TestJudgeCountsWhatItExcuses(t *testing.T) {
	record := newValidRecord()
	record.dropOrder(1195)
	record.Lock, record.Snapshots[1] = "v4", snapshot("A", 11.9, 1190, 1187)
	checks := Examine(record).Rules
	if checks[0].Excused != 1 || checks[6].Excused != 3 {
		t.Errorf("%+v\n%+v; want one order and three updates excused", checks[0], checks[6])
	}
}

// Losses that were predicted are told in another word than PASS, with the same exit code.
func TestThePageTellsPredictedLosses(t *testing.T) {
	record := newValidRecord()
	record.Lock, record.Snapshots[1] = "v4", snapshot("A", 11.9, 1190, 1187)
	result := Examine(record)
	want := "\nAS PREDICTED: updates lost: 3, only by faults that v4 cannot stand\n"
	if page := result.Text(); result.Verdict.ExitCode() != 0 || !strings.Contains(page, want) || strings.Contains(page, "PASS") {
		t.Errorf("exit code %d; want 0, and %q:\n%s", result.Verdict.ExitCode(), want, page)
	}
}

func TestThePageTellsFaultsAndRules(t *testing.T) {
	record := newValidRecord()
	record.removeSales(12, 15.1)
	record.Sales = append(record.Sales, Sale{Start: atSecond(12), End: atSecond(13), Status: 503, Code: "redis_unavailable", OrderID: "x"})
	page := Examine(record).Text()
	for _, want := range []string{
		"A soak of v9 for 20s, under real faults\n",
		"  1,690    sales  84 a second",
		"\nempty-redis   1      1          0             2.4 s\n",
		"✓ a sale answered 200 has its one order: 1,690 checked\n",
		"✗ sales go on within 2s of a fault, and a quarter of the rate is back: 2 checked, 1 broken\n",
		"\n    BROKEN: empty-redis at 11.99s: hardly a sale for 2.2s; until the next fault, 1 redis_unavailable\n",
		"\nFAIL: sales go on within 2s of a fault, and a quarter of the rate is back: broken once\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q:\n%s", want, page)
		}
	}
}
