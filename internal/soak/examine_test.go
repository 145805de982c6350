package soak

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/internal/verdict"
)

// Each row breaks a rule of a valid record. No other rule is reported but those that the same change must break.
func TestExamineFindsBrokenRule(t *testing.T) {
	const (
		soldOnce         = "a sale answered 200 has exactly one order"
		refused          = "a refused sale has no order"
		lookups          = "GET /orders/{id} agrees with the ledgers"
		repeats          = "a sale repeated with its Idempotency-Key is made at most once"
		origin           = "an order belongs to a sale"
		agrees           = "an order in a ledger agrees with the answer to its buyer"
		stockFell        = "the stock of a run fell by one"
		lost             = "no update is lost"
		losesAsPredicted = "each fault that must cost"
		linearizable     = "the answers to buyers and readers of the stock are linearizable"
		tokens           = "the stock fell in the order of the fencing tokens"
		resumed          = "sales resumed within"
		no500            = "no sale is answered 500"
		allHit           = "each fault hit a sale"
	)
	for name, test := range map[string]struct {
		change      func(*Record)
		wantRules   []string // rules that are broken or could not be checked, by their first words
		wantVerdict verdict.Verdict
	}{
		"correct": {change: func(*Record) {}, wantVerdict: verdict.Pass},

		"a sold order is in no ledger": {change: func(r *Record) { r.dropOrder(1999) }, wantRules: []string{soldOnce}, wantVerdict: verdict.Fail},
		"a sold order is in two ledgers": {change: func(r *Record) {
			r.Orders = append(r.Orders, r.Orders[1195])
			order := &r.Orders[2000]
			order.Run, order.RunID, order.Before, order.After, order.Fence = "B", "B", initialStock-800, initialStock-801, 2001
		}, wantRules: []string{soldOnce, agrees}, wantVerdict: verdict.Fail},
		"two buyers are answered with one order": {change: func(r *Record) {
			r.Sales[1999].OrderID = r.Sales[1998].OrderID
		}, wantRules: []string{soldOnce, origin, agrees, linearizable}, wantVerdict: verdict.Fail},
		"a ledger was destroyed before it was read": {change: func(r *Record) { r.dropOrder(1195) }, wantVerdict: verdict.Pass},
		"a ledger was destroyed, but had been read": {
			change: func(r *Record) { r.dropOrder(1180) }, wantRules: []string{soldOnce},
			wantVerdict: verdict.Fail,
		},
		"an order was gone before anything was destroyed": {
			change: func(r *Record) { r.dropOrder(550) }, wantRules: []string{soldOnce},
			wantVerdict: verdict.Fail,
		},

		"lock_lost, and sold": {
			change: func(r *Record) { r.Sales[50].answered(503, "lock_lost") }, wantRules: []string{refused},
			wantVerdict: verdict.Fail,
		},
		"run_over, and sold": {
			change: func(r *Record) { r.Sales[50].answered(503, "run_over") }, wantRules: []string{refused}, wantVerdict: verdict.Fail,
		},
		"lock_timeout, and sold": {
			change: func(r *Record) { r.Sales[50].answered(503, "lock_timeout") }, wantRules: []string{refused},
			wantVerdict: verdict.Fail,
		},
		"sold_out, and sold": {
			change: func(r *Record) { r.Sales[50].answered(409, "sold_out") }, wantRules: []string{refused}, wantVerdict: verdict.Fail,
		},
		"redis_unavailable, and sold": {
			change: func(r *Record) { r.Sales[50].answered(503, "redis_unavailable") }, wantRules: []string{refused},
			wantVerdict: verdict.Fail,
		},
		"outcome_unknown, and sold": {change: func(r *Record) { r.Sales[50].answered(503, "outcome_unknown") }, wantVerdict: verdict.Pass},
		"a refusal without an id": {change: func(r *Record) {
			r.Sales = append(r.Sales, Sale{Start: atSecond(1), End: atSecond(2), Status: 503, Code: "lock_lost"})
		}, wantRules: []string{refused}, wantVerdict: verdict.Untested},
		"no replica, so no id": {change: func(r *Record) {
			r.Sales = append(r.Sales, Sale{Start: atSecond(1), End: atSecond(2), Status: 503, Code: "no_replica"})
		}, wantVerdict: verdict.Pass},

		"outcome unknown, and found": {
			change:      func(r *Record) { r.Lookups = []OrderLookup{{OrderID: "order-1999", Found: true}} },
			wantVerdict: verdict.Pass,
		},
		"outcome unknown, and there is no order": {
			change: func(r *Record) { r.Lookups = []OrderLookup{{OrderID: "x"}} }, wantVerdict: verdict.Pass,
		},
		"outcome unknown, and an order is found that is in no ledger": {
			change:    func(r *Record) { r.Lookups = []OrderLookup{{OrderID: "x", Found: true}} },
			wantRules: []string{lookups}, wantVerdict: verdict.Fail,
		},
		"outcome unknown, and the order is not found": {
			change: func(r *Record) { r.Lookups = []OrderLookup{{OrderID: "order-1999"}} }, wantRules: []string{lookups},
			wantVerdict: verdict.Fail,
		},
		"outcome unknown, and the order was destroyed since": {
			change:      func(r *Record) { r.Lookups = []OrderLookup{{OrderID: "order-50"}} },
			wantVerdict: verdict.Pass,
		},
		"outcome unknown, and GET /orders fails": {change: func(r *Record) {
			r.Lookups = []OrderLookup{{OrderID: "x", Error: "503"}}
		}, wantRules: []string{lookups}, wantVerdict: verdict.Untested},

		"a repeated sale is made twice": {change: func(r *Record) {
			r.repeatSale(1195)
			r.Faults[1].Kind = "new-run"
		}, wantRules: []string{soldOnce, repeats, agrees}, wantVerdict: verdict.Fail},
		"a repeated sale is made twice, after its order was destroyed": {
			change:      func(r *Record) { r.repeatSale(1195) },
			wantVerdict: verdict.Pass,
		},
		"an answer names another order than that of the key": {change: func(r *Record) {
			r.Sales[50].HasKey, r.Sales[50].OtherOrderID = true, r.Sales[50].OrderID
		}, wantRules: []string{repeats}, wantVerdict: verdict.Fail},
		"a buyer repeats": {change: func(r *Record) { r.Sales[50].HasKey, r.Sales[50].Repeats = true, 2 }, wantVerdict: verdict.Pass},

		"an order that nobody requested": {
			change: func(r *Record) { r.Sales = slices.Delete(r.Sales, 50, 51) }, wantRules: []string{origin},
			wantVerdict: verdict.Fail,
		},
		"an order without an answer": {change: func(r *Record) {
			r.Sales[50].answered(0, "no answer in time")
			r.Sales[50].OrderID = ""
		}, wantVerdict: verdict.Pass},
		"an order written before the only sale without an answer": {change: func(r *Record) {
			r.Sales[50].answered(0, "no answer in time")
			r.Sales[50].OrderID, r.Sales[50].Start = "", atSecond(3)
		}, wantRules: []string{origin}, wantVerdict: verdict.Fail},
		"an order written long after the only sale without an answer": {change: func(r *Record) {
			r.Sales[1999].answered(502, "bad_gateway")
			r.Sales[1999].OrderID, r.Sales[1999].Start, r.Sales[1999].End = "", atSecond(1), atSecond(2)
		}, wantRules: []string{origin}, wantVerdict: verdict.Fail},
		"an order written shortly after the only sale without an answer": {change: func(r *Record) {
			r.Sales[1999].answered(502, "bad_gateway")
			r.Sales[1999].OrderID, r.Sales[1999].Start, r.Sales[1999].End = "", atSecond(9), atSecond(10)
		}, wantVerdict: verdict.Pass},
		"two orders for one sale without an answer": {change: func(r *Record) {
			r.Sales[50].answered(502, "bad_gateway")
			r.Sales[50].OrderID = ""
			r.Sales = slices.Delete(r.Sales, 60, 61)
		}, wantRules: []string{origin}, wantVerdict: verdict.Fail},

		"an order of another run is in the ledger": {
			change: func(r *Record) { r.Orders[1300].RunID = "A" }, wantRules: []string{agrees},
			wantVerdict: verdict.Fail,
		},
		"an answer names another run": {
			change: func(r *Record) { r.Sales[1300].RunID = "A" }, wantRules: []string{agrees, linearizable},
			wantVerdict: verdict.Fail,
		},

		"a lost update": {
			change: func(r *Record) { r.Snapshots[1] = snapshot("A", 11.9, 1190, 1189) }, wantRules: []string{stockFell, lost},
			wantVerdict: verdict.Fail,
		},
		"a lost update in the first snapshot": {change: func(r *Record) {
			r.Snapshots[0] = snapshot("A", 4.9, 490, 489)
		}, wantRules: []string{stockFell, lost, linearizable}, wantVerdict: verdict.Fail},
		"the stock fell without a sale": {
			change:    func(r *Record) { r.Snapshots[2] = snapshot("B", 20, 800, 801) },
			wantRules: []string{stockFell, linearizable}, wantVerdict: verdict.Fail,
		},
		"the stock fell without a sale, under a weak lock": {change: func(r *Record) {
			r.Lock, r.Snapshots[1] = "v4", snapshot("A", 11.9, 1190, 1191)
		}, wantRules: []string{stockFell}, wantVerdict: verdict.Fail},
		"oversold": {change: func(r *Record) {
			r.Snapshots[2].Initial, r.Snapshots[2].Remaining = 700, -100
		}, wantRules: []string{stockFell, linearizable}, wantVerdict: verdict.Fail},
		"the run counts more orders than its ledger has": {
			change: func(r *Record) { r.Snapshots[2].Orders++ }, wantRules: []string{stockFell},
			wantVerdict: verdict.Fail,
		},
		"two orders left the same stock": {
			change: func(r *Record) { r.Orders[1999].After++ }, wantRules: []string{stockFell, agrees},
			wantVerdict: verdict.Fail,
		},
		"the orders leave a gap": {
			change: func(r *Record) { r.Orders[1999].After -= 7 }, wantRules: []string{stockFell, agrees},
			wantVerdict: verdict.Fail,
		},
		"a weak lock's lost update, explained by a fault": {change: func(r *Record) {
			r.Lock, r.Snapshots[1] = "v4", snapshot("A", 11.9, 1190, 1187)
		}, wantVerdict: verdict.AsPredicted},
		"a weak lock's lost update, and no fault in that run explains it": {change: func(r *Record) {
			r.Lock, r.Snapshots[2] = "v4", snapshot("B", 20, 800, 797)
		}, wantRules: []string{stockFell, linearizable}, wantVerdict: verdict.Fail},
		"a weak lock's lost update, and the stop was too short": {change: func(r *Record) {
			r.Lock, r.Snapshots[1], r.Faults[0].Duration = "v4", snapshot("A", 11.9, 1190, 1187), 400*time.Millisecond
		}, wantRules: []string{stockFell}, wantVerdict: verdict.Fail},

		"a weak lock's lost update, and the stop was in a later run": {change: func(r *Record) {
			r.Lock, r.Snapshots[1] = "v4", snapshot("A", 11.9, 1190, 1187)
			r.Faults = append(r.Faults[1:], r.Faults[0])
			r.Faults[1].LastReadAt, r.Faults[1].Begin, r.Faults[1].End = atSecond(16.9), atSecond(17), atSecond(19)
		}, wantRules: []string{stockFell}, wantVerdict: verdict.Fail},

		"a weak lock's lost update, long before the stop": {change: func(r *Record) {
			r.Lock = "v4"
			r.Snapshots = []Snapshot{
				snapshot("A", 4, 400, 399), snapshot("A", 4.9, 490, 489), snapshot("A", 11.9, 1190, 1187), snapshot("B", 20, 800, 800),
			}
		}, wantRules: []string{stockFell}, wantVerdict: verdict.Fail},
		"a weak lock's lost update, long after the stop": {change: func(r *Record) {
			r.Lock = "v4"
			r.Snapshots = slices.Concat(r.Snapshots[:1], []Snapshot{
				snapshot("A", 9.5, 950, 949), snapshot("A", 10, 1000, 998), snapshot("A", 11.9, 1190, 1188),
			}, r.Snapshots[2:])
		}, wantRules: []string{stockFell}, wantVerdict: verdict.Fail},
		"a weak lock's lost update that no snapshot shows": {change: func(r *Record) {
			r.Lock = "v4"
			r.Orders[1999].After++
		}, wantRules: []string{stockFell, agrees}, wantVerdict: verdict.Fail},
		"a weak lock's stale answer, without a fault": {change: func(r *Record) {
			r.Lock = "v4"
			r.swapStock(1060, 1070)
		}, wantRules: []string{linearizable, tokens}, wantVerdict: verdict.Fail},

		"no sales in the first seconds of a stop": {change: func(r *Record) { r.removeSales(5, 7.9) }, wantVerdict: verdict.Pass},
		"no sales while one replica is stopped": {
			change: func(r *Record) { r.removeSales(5, 9.2) }, wantRules: []string{resumed},
			wantVerdict: verdict.Fail,
		},
		"the rate recovers too late": {
			change: func(r *Record) { r.removeSales(12, 15.1) }, wantRules: []string{resumed}, wantVerdict: verdict.Fail,
		},
		"few sales for too long": {
			change: func(r *Record) { r.removeSales(12, 13.95); r.removeSales(14.05, 16); r.removeSales(16.1, 18) }, wantRules: []string{resumed},
			wantVerdict: verdict.Untested,
		},
		"few sales to the end": {
			change:    func(r *Record) { r.removeSales(12, 13.9); r.removeSales(14.1, 16); r.removeSales(16.1, 21) },
			wantRules: []string{resumed}, wantVerdict: verdict.Untested,
		},
		"the rate recovers in time": {change: func(r *Record) { r.removeSales(12, 14.3) }, wantVerdict: verdict.Pass},
		"the rate never recovers":   {change: func(r *Record) { r.removeSales(12, 21) }, wantRules: []string{resumed}, wantVerdict: verdict.Fail},
		"the session ends before the rate recovers": {
			change:    func(r *Record) { r.removeSales(12, 21); r.Ended = atSecond(13.5) },
			wantRules: []string{resumed}, wantVerdict: verdict.Untested,
		},
		"a slow second before a fault": {change: func(r *Record) { r.removeSales(2, 3.5) }, wantVerdict: verdict.Pass},

		"a fault that must cost a weak lock an update, and did": {change: func(r *Record) {
			r.Lock, r.Faults[0].Kind, r.Snapshots[1] = "v6", "stall-replica", snapshot("A", 11.9, 1190, 1189)
		}, wantVerdict: verdict.AsPredicted},
		"a fault that must cost a weak lock an update, and did not": {change: func(r *Record) {
			r.Lock, r.Faults[0].Kind = "v6", "stall-replica"
		}, wantRules: []string{losesAsPredicted}, wantVerdict: verdict.Fail},
		"a fault that costs a weaker lock an update": {
			change:      func(r *Record) { r.Lock, r.Faults[0].Kind = "v6", "late-write" },
			wantVerdict: verdict.Pass,
		},

		"a token is used twice": {
			change: func(r *Record) { r.changeSale(60, func(s *Sale) { s.Fence-- }) }, wantRules: []string{tokens},
			wantVerdict: verdict.Fail,
		},
		"a token is smaller than the one before": {
			change: func(r *Record) { r.changeSale(60, func(s *Sale) { s.Fence = 7 }) }, wantRules: []string{tokens},
			wantVerdict: verdict.Fail,
		},
		"no token": {
			change: func(r *Record) { r.changeSale(60, func(s *Sale) { s.Fence = 0 }) }, wantRules: []string{tokens}, wantVerdict: verdict.Fail,
		},

		"two buyers find the same stock": {change: func(r *Record) {
			r.changeSale(60, func(s *Sale) { s.Before, s.After = s.Before+1, s.After+1 })
		}, wantRules: []string{linearizable, stockFell}, wantVerdict: verdict.Fail},
		"an answer has a stock that was gone before the request": {
			change:    func(r *Record) { r.swapStock(60, 70) },
			wantRules: []string{linearizable, tokens}, wantVerdict: verdict.Fail,
		},
		"a sale takes two pieces": {change: func(r *Record) {
			r.changeSale(1999, func(s *Sale) { s.After-- })
			r.Snapshots[2] = snapshot("B", 20, 800, 801)
		}, wantRules: []string{linearizable, stockFell}, wantVerdict: verdict.Fail},
		"overlapping sales": {change: func(r *Record) { r.Sales[60].End = atSecond(0.71) }, wantVerdict: verdict.Pass},
		"a sale is answered before the previous one begins": {change: func(r *Record) {
			r.Sales[999].Start, r.Sales[999].End = atSecond(10.1), atSecond(10.2)
		}, wantRules: []string{linearizable}, wantVerdict: verdict.Fail},
		"a read finds a stock that was gone before": {
			change:      func(r *Record) { r.Snapshots[0].Requested, r.Snapshots[0].Received = atSecond(5), atSecond(5.1) },
			wantRules:   []string{linearizable},
			wantVerdict: verdict.Fail,
		},

		"a bug": {change: func(r *Record) {
			r.Sales = append(r.Sales, Sale{Start: atSecond(1), End: atSecond(2), Status: 500, Code: "internal", OrderID: "x"})
		}, wantRules: []string{no500}, wantVerdict: verdict.Fail},
		"a fault that was not injected": {
			change: func(r *Record) { r.Faults[1].Error = "it hit nothing" }, wantRules: []string{allHit},
			wantVerdict: verdict.Untested,
		},
		"a fault that hit no sale": {
			change: func(r *Record) { r.Faults[1].TargetsHit = 0 }, wantRules: []string{allHit}, wantVerdict: verdict.Untested,
		},
		"a fault that hit no sale, while one was slightly slow": {change: func(r *Record) {
			r.Faults[0].TargetsHit, r.Faults[0].Duration = 0, time.Second
			r.Faults[0].End = atSecond(6)
			r.Sales[550].End = r.Sales[550].Start.Add(50 * time.Millisecond)
		}, wantRules: []string{allHit}, wantVerdict: verdict.Untested},
		"a fault that delayed one sale": {change: func(r *Record) {
			r.Faults[0].TargetsHit = 0
			r.Sales[550].End = r.Sales[550].Start.Add(1100 * time.Millisecond)
		}, wantVerdict: verdict.Pass},
		"no faults": {change: func(r *Record) { r.Faults = nil }, wantRules: []string{allHit}, wantVerdict: verdict.Untested},
		"few sales before a fault": {change: func(r *Record) {
			r.Faults[1].LastReadAt = atSecond(9.2) // a fifth of a second of calm
		}, wantRules: []string{allHit}, wantVerdict: verdict.Untested},
	} {
		t.Run(name, func(t *testing.T) {
			record := newValidRecord()
			test.change(&record)
			result := Examine(record)
			if result.Verdict != test.wantVerdict {
				t.Errorf("verdict %s, want %s", result.Verdict, test.wantVerdict)
			}
			for _, check := range result.Rules {
				hit := check.Broken+check.Unchecked > 0
				want := slices.ContainsFunc(test.wantRules, func(rule string) bool { return strings.HasPrefix(check.Rule, rule) })
				if hit != want {
					t.Errorf("%+v: broken or unchecked %t, want %t", check, hit, want)
				}
			}
		})
	}
}

func TestExamineCountsExcusedCases(t *testing.T) {
	record := newValidRecord()
	record.dropOrder(1195)
	record.Lock, record.Snapshots[1] = "v4", snapshot("A", 11.9, 1190, 1187)
	checks := Examine(record).Rules
	if checks[0].Excused != 1 || checks[6].Excused != 3 {
		t.Errorf("excused %d orders and %d updates, want 1 and 3", checks[0].Excused, checks[6].Excused)
	}
}
