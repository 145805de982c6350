package soak

import (
	"fmt"
	"slices"
	"time"

	"lockstep/internal/service/history"
)

// sessionStart is the start of the records in tests.
var sessionStart = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// atSecond returns the time that many seconds after sessionStart.
func atSecond(seconds float64) time.Time {
	return sessionStart.Add(time.Duration(seconds * float64(time.Second)))
}

// newValidRecord returns a record that breaks no rule: twenty seconds with a hundred sales a second, in run A and then in run B. A replica
// is stopped from second 5 to second 7, and Redis is emptied at second 12.
func newValidRecord() Record {
	r := Record{Lock: "v9", Began: sessionStart, Ended: atSecond(20), Faults: []Injected{
		{
			Fault: Fault{Kind: "stop-replica", Duration: 2 * time.Second}, Victim: "r1", TargetsHit: 1, LastReadAt: atSecond(4.9),
			Begin: atSecond(5), End: atSecond(7),
		},
		{Fault: Fault{Kind: "empty-redis"}, TargetsHit: 1, LastReadAt: atSecond(11.9), Begin: atSecond(11.995), End: atSecond(12)},
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

// snapshot returns a snapshot of a run that sold some pieces, and whose stock fell by gone.
func snapshot(run string, seconds float64, sold, gone int64) Snapshot {
	return Snapshot{Requested: atSecond(seconds), Received: atSecond(seconds), Orders: sold, Tally: history.Tally{
		Run: history.Run{ID: run, Lock: "v9", Initial: initialStock}, Sold: sold, Remaining: initialStock - gone,
	}}
}

// answered changes the answer to a sale.
func (s *Sale) answered(status int, code string) {
	s.Status, s.Code, s.RunID = status, code, ""
}

// dropOrder removes the i-th order from its ledger.
func (r *Record) dropOrder(i int) { r.Orders = slices.Delete(r.Orders, i, i+1) }

// changeSale changes a sale in the answer to its buyer and in the ledger.
func (r *Record) changeSale(i int, change func(*Sale)) {
	sale, order := &r.Sales[i], &r.Orders[i]
	change(sale)
	order.Before, order.After, order.Fence = sale.Before, sale.After, sale.Fence
}

// swapStock swaps the stocks that two sales found and left.
func (r *Record) swapStock(i, j int) {
	a, b := r.Sales[i], r.Sales[j]
	r.changeSale(i, func(s *Sale) { s.Before, s.After = b.Before, b.After })
	r.changeSale(j, func(s *Sale) { s.Before, s.After = a.Before, a.After })
}

// removeSales removes the sales between two times, with their orders.
func (r *Record) removeSales(from, to float64) {
	removed := map[string]bool{}
	r.Orders = slices.DeleteFunc(r.Orders, func(e Entry) bool {
		removed[e.ID] = !e.At.Before(atSecond(from)) && e.At.Before(atSecond(to))
		return removed[e.ID]
	})
	r.Sales = slices.DeleteFunc(r.Sales, func(s Sale) bool { return removed[s.OrderID] })
	r.renumber()
}

// renumber makes each order of a run take the next piece, and answers and snapshots agree with the orders.
func (r *Record) renumber() {
	sold, orders := map[string]int64{}, map[string]history.Order{}
	for i := range r.Orders {
		order := &r.Orders[i]
		order.Before = initialStock - sold[order.Run]
		order.After = order.Before - 1
		sold[order.Run]++
		orders[order.ID] = order.Order
	}
	for i := range r.Sales {
		r.Sales[i].Before, r.Sales[i].After = orders[r.Sales[i].OrderID].Before, orders[r.Sales[i].OrderID].After
	}
	for i, old := range r.Snapshots {
		n := int64(0)
		for _, order := range r.Orders {
			if order.Run == old.ID && !order.At.After(old.Received) {
				n++
			}
		}
		r.Snapshots[i] = snapshot(old.ID, old.Received.Sub(sessionStart).Seconds(), n, n)
	}
}

// repeatSale makes a sale of run A a repeated one, which was also made in run B.
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
