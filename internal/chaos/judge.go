package chaos

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"
)

// Verdict says whether the shop kept its promises.
type Verdict string

// The verdicts.
const (
	Holds   Verdict = "holds"
	Broken  Verdict = "broken"
	Unknown Verdict = "unknown" // something was not tested
)

// Check is one rule, and what came of it.
type Check struct {
	Rule      string
	Checked   int
	Excused   int      // would break it, but a fault explains them
	Unchecked int      // could not be checked
	Broken    int      // do not hold
	Says      []string // for people: the first cases that do not hold or could not be checked, and remarks
}

const examples = 5

func (c *Check) breaks(format string, args ...any) {
	if c.Broken++; c.Broken <= examples {
		c.note("BROKEN: "+format, args...)
	}
}

func (c *Check) unknown(format string, args ...any) {
	if c.Unchecked++; c.Unchecked <= examples {
		c.note("UNKNOWN: "+format, args...)
	}
}

func (c *Check) note(format string, args ...any) {
	c.Says = append(c.Says, fmt.Sprintf(format, args...))
}

// Judge checks every rule over a record.
func Judge(r Record) ([]Check, Verdict) {
	byID := map[string][]Entry{}
	for _, entry := range r.Orders {
		byID[entry.ID] = append(byID[entry.ID], entry)
	}
	checks := []Check{
		soldHaveOrders(r, byID), refusedHaveNone(r, byID), doubtsAreSettled(r, byID), ordersWereAskedFor(r), ordersAreInTheirRun(r),
		stockFeltEverySale(r), rateComesBack(r), noBugs(r), wasPutToTheTest(r),
	}
	verdict := Holds
	for _, check := range checks {
		if check.Broken > 0 {
			return checks, Broken
		}
		if check.Unchecked > 0 {
			verdict = Unknown
		}
	}
	return checks, verdict
}

func soldHaveOrders(r Record, byID map[string][]Entry) Check {
	check := Check{Rule: "a sale answered 200 has its one order"}
	for _, sale := range r.Sales {
		if !sale.sold() {
			continue
		}
		check.Checked++
		switch n := len(byID[sale.OrderID]); {
		case n == 1:
		case n > 1:
			check.breaks("order %s is in %d ledgers", sale.OrderID, n)
		case slices.ContainsFunc(r.Faults, func(f Injected) bool { return f.lostIt(sale) }):
			check.Excused++
		default:
			check.breaks("order %s of run %s, answered by %s at %s, is in no ledger", sale.OrderID, sale.RunID, sale.Replica, r.at(sale.End))
		}
	}
	if check.Excused > 0 {
		check.note("%d orders were in no reading of a ledger before it was destroyed", check.Excused)
	}
	return check
}

func refusedHaveNone(r Record, byID map[string][]Entry) Check {
	check := Check{Rule: "a sale that was refused has no order"}
	for _, sale := range r.Sales {
		if sale.outcome() != notMade {
			continue
		}
		switch {
		case sale.OrderID == "":
			check.unknown("%d %s at %s does not say its order's id", sale.Status, sale.Code, r.at(sale.End))
		case len(byID[sale.OrderID]) > 0:
			check.Checked++
			check.breaks("%s was told to order %s at %s, and it is in the ledger", sale.Code, sale.OrderID, r.at(sale.End))
		default:
			check.Checked++
		}
	}
	return check
}

func doubtsAreSettled(r Record, byID map[string][]Entry) Check {
	check := Check{Rule: "a buyer in doubt finds the order by its id, if there is one"}
	for _, doubt := range r.Doubts {
		orders := byID[doubt.OrderID]
		switch check.Checked++; {
		case doubt.Error != "":
			check.unknown("order %s: %s", doubt.OrderID, doubt.Error)
		case doubt.Found && len(orders) == 0:
			check.breaks("order %s is found, and is in no ledger", doubt.OrderID)
		case doubt.Found || len(orders) == 0:
		case slices.ContainsFunc(r.Faults, func(f Injected) bool { return f.tookIt(orders[0]) }):
			check.Excused++
		default:
			check.breaks("order %s is in the ledger of run %s, and is not found", doubt.OrderID, orders[0].Run)
		}
	}
	return check
}

// ordersWereAskedFor looks for a buyer of every order: a buyer who was told its id, or one who was told nothing and began before it was
// written. Each buyer of the second kind can have one order.
func ordersWereAskedFor(r Record) Check {
	check := Check{Rule: "an order was sold to somebody, or its buyer was left in doubt"}
	told := map[string]bool{}
	var silent []time.Time
	inDoubt, foundOut := 0, 0
	for _, sale := range r.Sales {
		if sale.outcome() == unknown {
			inDoubt++
		}
		if sale.OrderID != "" {
			told[sale.OrderID] = sale.outcome() == unknown
		} else if sale.outcome() == unknown || sale.outcome() == notMade {
			silent = append(silent, sale.Start)
		}
	}
	slices.SortFunc(silent, time.Time.Compare)
	orders := slices.Clone(r.Orders)
	slices.SortFunc(orders, func(a, b Entry) int { return a.At.Compare(b.At) })
	began, used := 0, 0
	for _, order := range orders {
		check.Checked++
		if doubted, known := told[order.ID]; known {
			if doubted {
				foundOut++
			}
			continue
		}
		for began < len(silent) && !silent[began].After(order.At) {
			began++
		}
		if used == began {
			check.breaks("order %s of run %s, written at %s, is nobody's", order.ID, order.Run, r.at(order.At))
			continue
		}
		used++
		foundOut++
	}
	check.note("%d sales of unknown outcome or without an id; %d of them were made", inDoubt, foundOut)
	return check
}

func ordersAreInTheirRun(r Record) Check {
	check := Check{Rule: "an order is in the ledger of the run that its buyer was told"}
	told := map[string]string{}
	for _, sale := range r.Sales {
		if sale.sold() {
			told[sale.OrderID] = sale.RunID
		}
	}
	for _, order := range r.Orders {
		check.Checked++
		if order.RunID != order.Run {
			check.breaks("order %s of run %s is in the ledger of run %s", order.ID, order.RunID, order.Run)
		} else if run, known := told[order.ID]; known && run != order.Run {
			check.breaks("order %s was told to be of run %s, and is in the ledger of run %s", order.ID, run, order.Run)
		}
	}
	return check
}

// stockFeltEverySale compares the stock with the orders, run by run, in every look. A look can come before a run's last sales, so it also
// compares the orders with each other: each leaves one piece less than another one, down from the first stock without a gap.
func stockFeltEverySale(r Record) Check {
	check := Check{Rule: "a run's stock fell by one for every order of that run"}
	if !r.Fenced {
		check.Rule += ", but for updates lost by a fault that ends the lock under its holder"
	}
	runs := runsOf(r)
	lost := map[string]int64{}
	for _, look := range r.Looks {
		check.Checked++
		if look.Sold != look.Kept {
			check.breaks("run %s says %d sold at %s, and its ledger has %d", look.ID, look.Sold, r.at(look.At), look.Kept)
		}
		if look.Lost() < 0 {
			check.breaks("run %s at %s: the stock fell by %d more than was sold", look.ID, r.at(look.At), -look.Lost())
		}
		if look.Oversold() > 0 {
			check.breaks("run %s at %s: %d more sold than there was", look.ID, r.at(look.At), look.Oversold())
		}
		lost[look.ID] = max(lost[look.ID], look.Lost())
	}
	for i, run := range runs {
		check.Checked++
		if gap := run.initial - run.lowest - int64(len(run.left)); gap != 0 && !r.destroyed(runs, i) {
			check.breaks("run %s: the orders leave out %d of the %d pieces that are gone", run.id, gap, run.initial-run.lowest)
		}
		lost[run.id] = max(lost[run.id], run.twice)
		if lost[run.id] == 0 {
			continue
		}
		if r.Fenced || !r.opened(runs, i) {
			check.breaks("run %s: %d lost updates, and no fault allows one", run.id, lost[run.id])
			continue
		}
		check.Excused += int(lost[run.id])
		check.note("run %s: %d lost updates, as a fault allows", run.id, lost[run.id])
	}
	check.note("%d runs", len(runs))
	return check
}

func noBugs(r Record) Check {
	check := Check{Rule: "nobody is answered 500"}
	for _, sale := range r.Sales {
		check.Checked++
		if sale.Status == http.StatusInternalServerError {
			check.breaks("500 %s by %s at %s", sale.Code, sale.Replica, r.at(sale.End))
		}
	}
	return check
}

// enoughSales is how many sales there must be in the quiet before each fault; fewer prove nothing.
const enoughSales = 100

func wasPutToTheTest(r Record) Check {
	check := Check{Rule: fmt.Sprintf("every fault took place, after at least %d sales", enoughSales)}
	sold := paceOf(r)
	for i, fault := range r.Faults {
		check.Checked++
		from, to := r.calm(i)
		if n := sold.between(from, to); n < enoughSales {
			check.unknown("%s at %s: only %d sales in the %v before it", fault.Kind, r.at(fault.Begin), n, to.Sub(from).Round(time.Millisecond))
		} else if fault.Error != "" {
			check.unknown("%s at %s: %s", fault.Kind, r.at(fault.Begin), fault.Error)
		}
	}
	if len(r.Faults) == 0 {
		check.unknown("there were no faults")
	}
	return check
}

// at tells a moment as the time since the session began.
func (r Record) at(t time.Time) string { return fmt.Sprintf("%.2fs", t.Sub(r.Began).Seconds()) }

// run is what the orders say of one.
type run struct {
	id      string
	first   time.Time
	initial int64
	left    map[int64]bool // what its orders left in stock
	lowest  int64          // of these
	twice   int64          // how many orders left what another one had left
}

// runsOf gives the runs in their order.
func runsOf(r Record) []run {
	byID := map[string]*run{}
	for _, order := range r.Orders {
		of := byID[order.Run]
		if of == nil {
			of = &run{id: order.Run, first: order.At, initial: initialStock, lowest: initialStock, left: map[int64]bool{}}
			byID[order.Run] = of
		}
		if order.At.Before(of.first) {
			of.first = order.At
		}
		if of.left[order.After] {
			of.twice++
		}
		of.left[order.After] = true
		of.lowest = min(of.lowest, order.After)
	}
	runs := make([]run, 0, len(byID))
	for _, of := range slices.SortedFunc(maps.Values(byID), func(a, b *run) int { return a.first.Compare(b.first) }) {
		runs = append(runs, *of)
	}
	return runs
}

// begunIn gives the faults that began during a run.
func (r Record) begunIn(runs []run, i int) []Injected {
	return slices.DeleteFunc(slices.Clone(r.Faults), func(f Injected) bool {
		return i > 0 && f.Begin.Before(runs[i].first) || i+1 < len(runs) && !f.Begin.Before(runs[i+1].first)
	})
}

func (r Record) destroyed(runs []run, i int) bool {
	return slices.ContainsFunc(r.begunIn(runs, i), func(f Injected) bool { return f.Kind.destroys() })
}

func (r Record) opened(runs []run, i int) bool {
	return slices.ContainsFunc(r.begunIn(runs, i), func(f Injected) bool { return f.opens(r.Expiry) })
}
