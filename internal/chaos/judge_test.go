package chaos

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/internal/history"
)

// began is when hand-made sessions begin.
var began = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return began.Add(time.Duration(seconds * float64(time.Second))) }

// handMade is twenty seconds in which all is well, at a hundred sales a second: two runs, for Redis is emptied at ten seconds; before, at
// five, a replica is stopped for two seconds.
func handMade() Record {
	r := Record{Lock: "v8", Fenced: true, Expiry: time.Second, Began: began, Ended: at(20), Faults: []Injected{
		{Fault: Fault{Kind: StopReplica, For: 2 * time.Second}, Victim: "r1", Read: at(4.9), Begin: at(5), End: at(7)},
		{Fault: Fault{Kind: EmptyRedis}, Read: at(11.9), Begin: at(11.995), End: at(12)},
	}}
	left := map[string]int64{"A": initialStock, "B": initialStock}
	for i := range 2000 {
		when, id, run := at(float64(i)/100), fmt.Sprint("order-", i), "A"
		if !when.Before(at(12)) {
			run = "B"
		}
		left[run]--
		r.Sales = append(r.Sales, Sale{
			Start: when.Add(-5 * time.Millisecond), End: when.Add(time.Millisecond), Status: 200, OrderID: id, RunID: run, Replica: "r1",
		})
		r.Orders = append(r.Orders, Entry{Run: run, Order: history.Order{
			ID: id, RunID: run, At: when, Before: left[run] + 1, After: left[run],
		}})
	}
	r.Looks = []Look{look("A", 4.9, 490, 490), look("A", 11.9, 1190, 1190), look("B", 20, 800, 800)}
	return r
}

func look(run string, seconds float64, sold, gone int64) Look {
	return Look{At: at(seconds), Kept: sold, Tally: history.Tally{
		Run: history.Run{ID: run, Lock: "v8", Initial: initialStock}, Sold: sold, Remaining: initialStock - gone,
	}}
}

// told changes what the buyer of a sale was told.
func (s *Sale) told(status int, code string) {
	s.Status, s.Code, s.RunID = status, code, ""
}

// drop takes a sale's order out of its ledger.
func (r *Record) drop(i int) { r.Orders = slices.Delete(r.Orders, i, i+1) }

// slow takes the sales of a stretch away, with their orders.
func (r *Record) slow(from, to float64) {
	taken := map[string]bool{}
	r.Orders = slices.DeleteFunc(r.Orders, func(e Entry) bool {
		taken[e.ID] = !e.At.Before(at(from)) && e.At.Before(at(to))
		return taken[e.ID]
	})
	r.Sales = slices.DeleteFunc(r.Sales, func(s Sale) bool { return taken[s.OrderID] })
	renumber(r.Orders)
}

// renumber lets the orders of each run leave one piece less each.
func renumber(orders []Entry) {
	left := map[string]int64{}
	for i := range orders {
		left[orders[i].Run]++
		orders[i].After = initialStock - left[orders[i].Run]
	}
}

// Each rule is broken once; nothing else is said to be broken.
func TestJudge(t *testing.T) {
	const (
		soldOnce  = "a sale answered 200 has its one order"
		refused   = "a sale that was refused has no order"
		doubts    = "a buyer in doubt finds"
		asked     = "an order was sold to somebody"
		inItsRun  = "an order is in the ledger of the run"
		felt      = "a run's stock fell by one"
		comesBack = "half the rate is back"
		bugs      = "nobody is answered 500"
		tested    = "every fault took place"
	)
	for _, c := range []struct {
		what    string
		change  func(*Record)
		rule    string // that is broken or could not be checked; "" if none
		verdict Verdict
	}{
		{"all is well", func(*Record) {}, "", Holds},

		{"a sold order is in no ledger", func(r *Record) { r.drop(1999) }, soldOnce, Broken},
		{"a sold order is in two ledgers", func(r *Record) {
			r.Orders = append(r.Orders, r.Orders[1195])
			r.Orders[2000].Run, r.Orders[2000].RunID, r.Orders[2000].After = "B", "B", initialStock-801
		}, soldOnce + "|" + inItsRun, Broken},
		{"a ledger was destroyed before it was read", func(r *Record) { r.drop(1195) }, "", Holds},
		{"a ledger was destroyed, but had been read", func(r *Record) { r.drop(1180) }, soldOnce, Broken},
		{"an order was gone before anything was destroyed", func(r *Record) { r.drop(550) }, soldOnce, Broken},

		{"lock_lost, and sold", func(r *Record) { r.Sales[50].told(503, "lock_lost") }, refused, Broken},
		{"run_over, and sold", func(r *Record) { r.Sales[50].told(503, "run_over") }, refused, Broken},
		{"lock_timeout, and sold", func(r *Record) { r.Sales[50].told(503, "lock_timeout") }, refused, Broken},
		{"sold_out, and sold", func(r *Record) { r.Sales[50].told(409, "sold_out") }, refused, Broken},
		{"redis_unavailable, and sold", func(r *Record) { r.Sales[50].told(503, "redis_unavailable") }, refused, Broken},
		{"outcome_unknown, and sold", func(r *Record) { r.Sales[50].told(503, "outcome_unknown") }, "", Holds},
		{"a refusal without an id", func(r *Record) {
			r.Sales = append(r.Sales, Sale{Start: at(1), End: at(2), Status: 503, Code: "lock_lost"})
		}, refused, Unknown},
		{"no replica, so no id", func(r *Record) {
			r.Sales = append(r.Sales, Sale{Start: at(1), End: at(2), Status: 503, Code: "no_replica"})
		}, "", Holds},

		{"in doubt, and found", func(r *Record) { r.Doubts = []Doubt{{OrderID: "order-1999", Found: true}} }, "", Holds},
		{"in doubt, and there is none", func(r *Record) { r.Doubts = []Doubt{{OrderID: "x"}} }, "", Holds},
		{"in doubt, and found where there is none", func(r *Record) { r.Doubts = []Doubt{{OrderID: "x", Found: true}} }, doubts, Broken},
		{"in doubt, and not found", func(r *Record) { r.Doubts = []Doubt{{OrderID: "order-1999"}} }, doubts, Broken},
		{"in doubt, and not found as Redis was emptied since", func(r *Record) { r.Doubts = []Doubt{{OrderID: "order-50"}} }, "", Holds},
		{"in doubt, and no answer to that either", func(r *Record) { r.Doubts = []Doubt{{OrderID: "x", Error: "503"}} }, doubts, Unknown},

		{"an order that nobody asked for", func(r *Record) { r.Sales = slices.Delete(r.Sales, 50, 51) }, asked, Broken},
		{"a buyer went away without an answer", func(r *Record) {
			r.Sales[50].told(0, "no answer in time")
			r.Sales[50].OrderID = ""
		}, "", Holds},
		{"a buyer went away who came after the order was written", func(r *Record) {
			r.Sales[50].told(0, "no answer in time")
			r.Sales[50].OrderID, r.Sales[50].Start = "", at(3)
		}, asked, Broken},
		{"two orders for one buyer who was told nothing", func(r *Record) {
			r.Sales[50].told(502, "bad_gateway")
			r.Sales[50].OrderID = ""
			r.Sales = slices.Delete(r.Sales, 60, 61)
		}, asked, Broken},

		{"an order of another run in the ledger", func(r *Record) { r.Orders[1300].RunID = "A" }, inItsRun, Broken},
		{"a buyer was told another run", func(r *Record) { r.Sales[1300].RunID = "A" }, inItsRun, Broken},

		{"a lost update", func(r *Record) { r.Looks[1] = look("A", 11.9, 1190, 1189) }, felt, Broken},
		{"a lost update before the last look", func(r *Record) { r.Looks[0] = look("A", 4.9, 490, 489) }, felt, Broken},
		{"the stock fell without a sale", func(r *Record) { r.Looks[2] = look("B", 20, 800, 801) }, felt, Broken},
		{"the stock fell without a sale, under a weak lock", func(r *Record) {
			r.Fenced, r.Looks[1] = false, look("A", 11.9, 1190, 1191)
		}, felt, Broken},
		{"more was sold than there was", func(r *Record) { r.Looks[2].Initial, r.Looks[2].Remaining = 700, -100 }, felt, Broken},
		{"the run counts other than its ledger", func(r *Record) { r.Looks[2].Kept++ }, felt, Broken},
		{"two orders left the same stock", func(r *Record) { r.Orders[1999].After++ }, felt, Broken},
		{"the orders leave a gap", func(r *Record) { r.Orders[1999].After -= 7 }, felt, Broken},
		{"a weak lock's lost update, with a reason", func(r *Record) { r.Fenced, r.Looks[1] = false, look("A", 11.9, 1190, 1187) }, "", Holds},
		{"a weak lock's lost update, and no reason in that run", func(r *Record) {
			r.Fenced, r.Looks[2] = false, look("B", 20, 800, 797)
		}, felt, Broken},
		{"a weak lock's lost update, and the stop was too short", func(r *Record) {
			r.Fenced, r.Looks[1], r.Faults[0].For = false, look("A", 11.9, 1190, 1187), 400*time.Millisecond
		}, felt, Broken},

		{"a weak lock's lost update, and the stop was in a later run", func(r *Record) {
			r.Fenced, r.Looks[1] = false, look("A", 11.9, 1190, 1187)
			r.Faults = append(r.Faults[1:], r.Faults[0])
			r.Faults[1].Read, r.Faults[1].Begin, r.Faults[1].End = at(16.9), at(17), at(19)
		}, felt, Broken},

		{"nobody is sold to in the second that follows a stop", func(r *Record) { r.slow(5, 7.9) }, "", Holds},
		{"nobody is sold to as long as a replica is stopped", func(r *Record) { r.slow(5, 8.9) }, comesBack, Broken},
		{"the rate is back too late", func(r *Record) { r.slow(12, 15.1) }, comesBack, Broken},
		{"the rate is back in time", func(r *Record) { r.slow(12, 14.3) }, "", Holds},
		{"the rate never comes back", func(r *Record) { r.slow(12, 21) }, comesBack, Broken},
		{"the session ends before the rate is back", func(r *Record) { r.slow(12, 21); r.Ended = at(13.5) }, comesBack, Broken},
		{"a slow second before a fault", func(r *Record) { r.slow(2, 3.5) }, "", Holds},

		{"a bug", func(r *Record) {
			r.Sales = append(r.Sales, Sale{Start: at(1), End: at(2), Status: 500, Code: "internal", OrderID: "x"})
		}, bugs, Broken},
		{"a fault that did not take place", func(r *Record) { r.Faults[1].Error = "it hit nothing" }, tested, Unknown},
		{"no faults", func(r *Record) { r.Faults = nil }, tested, Unknown},
		{"few sales before a fault", func(r *Record) {
			r.Faults[1].Read = at(9.5) // half a second of calm
		}, tested, Unknown},
	} {
		t.Run(c.what, func(t *testing.T) {
			record := handMade()
			c.change(&record)
			checks, verdict := Judge(record)
			if verdict != c.verdict {
				t.Errorf("%s; want %s", verdict, c.verdict)
			}
			for _, check := range checks {
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
	record := handMade()
	record.drop(1195)
	record.Fenced, record.Looks[1] = false, look("A", 11.9, 1190, 1187)
	checks, _ := Judge(record)
	if checks[0].Excused != 1 || checks[5].Excused != 3 {
		t.Errorf("%+v\n%+v; want one order and three updates excused", checks[0], checks[5])
	}
}

func TestReportTellsFaultsAndRules(t *testing.T) {
	record := handMade()
	record.slow(12, 15.1)
	record.Sales = append(record.Sales, Sale{Start: at(12), End: at(13), Status: 503, Code: "redis_unavailable", OrderID: "x"})
	report := Report(record)
	for _, want := range []string{
		"chaos on v8 for 20s: 1690 sales answered 200, 1 not\n",
		"5.00s   stop-replica r1  2.0s  100             0.0s             700   \n",
		"11.99s  empty-redis      0.0s  100             2.6s             490   1 redis_unavailable\n",
		"✓ a sale answered 200 has its one order: 1690 checked\n",
		"✗ half the rate is back within 2s after a fault: 2 checked, 1 broken\n    BROKEN: empty-redis at 11.99s: back after 2.6s\n",
		"verdict: broken\n",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("the report does not say %q:\n%s", want, report)
		}
	}
}
