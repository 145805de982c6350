package soak

import (
	"fmt"

	"lockstep/internal/verdict"
)

// Check is one rule, and what came of it.
type Check struct {
	Rule      string   `json:"rule"`
	Checked   int      `json:"checked"`
	Excused   int      `json:"excused"`        // would break it, but a fault explains them
	Unchecked int      `json:"unchecked"`      // could not be checked
	Broken    int      `json:"broken"`         // do not hold
	Notes     []string `json:"says,omitempty"` // for people: the first cases that do not hold or could not be checked, and remarks
}

const maxExamples = 5

func (c *Check) addBroken(format string, args ...any) {
	if c.Broken++; c.Broken <= maxExamples {
		c.addNote("BROKEN: "+format, args...)
	}
}

func (c *Check) addUnchecked(format string, args ...any) {
	if c.Unchecked++; c.Unchecked <= maxExamples {
		c.addNote("UNKNOWN: "+format, args...)
	}
}

func (c *Check) addNote(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// Result is what a record shows, as numbers and words: the command prints it as JSON.
type Result struct {
	Lock      string          `json:"lock"`
	Seconds   float64         `json:"seconds"`
	Sales     int             `json:"sales"`
	PerSecond float64         `json:"per_second"`
	Refused   int             `json:"refused"`
	InDoubt   int             `json:"in_doubt"` // sales whose buyer was not told what became of them
	Lost      int64           `json:"lost"`     // updates
	Oversold  int64           `json:"oversold"`
	Faults    []KindSummary   `json:"faults"`
	Rules     []Check         `json:"rules"`
	Verdict   verdict.Verdict `json:"verdict"`
	Reasons   []string        `json:"reasons"`
	Picture   string          `json:"picture,omitempty"` // a file
	Command   string          `json:"again"`             // the command that repeats it

	record  Record
	excerpt excerpt // the part of the history that a picture is to show
}

// Examine checks every rule over a record, which it puts in order.
func Examine(record Record) Result {
	t := newTimeline(record)
	took := t.Ended.Sub(t.Began).Seconds()
	result := Result{
		Lock: t.Lock, Seconds: took, Sales: len(t.saleTimes), PerSecond: float64(len(t.saleTimes)) / max(took, 1),
		Refused: t.outcomes[outcomeNotMade] + t.outcomes[outcomeNotSent], InDoubt: t.outcomes[outcomeUnknown],
		Lost: t.totalLost(), Oversold: t.maxOversold(), Faults: summarizeKinds(t.aftermaths), Verdict: verdict.Pass, record: t.Record,
	}
	for _, rule := range t.rules() {
		check := Check{Rule: rule.text}
		rule.check(&check)
		result.Rules = append(result.Rules, check)
		switch {
		case check.Broken > 0:
			result.Verdict = verdict.Fail
			result.Reasons = append(result.Reasons, fmt.Sprintf("%s: broken %s", check.Rule, times(check.Broken)))
		case check.Unchecked > 0:
			if result.Verdict == verdict.Pass {
				result.Verdict = verdict.Untested
			}
			result.Reasons = append(result.Reasons, fmt.Sprintf("%s: not known %s", check.Rule, times(check.Unchecked)))
		}
	}
	result.excerpt = t.excerpt
	switch {
	case result.Verdict != verdict.Pass:
	case result.Lost > 0:
		result.Verdict = verdict.AsPredicted
		result.Reasons = []string{fmt.Sprintf("updates lost: %s, only by faults that %s cannot stand", thousands(result.Lost), t.Lock)}
	default:
		result.Reasons = []string{"every rule holds, and every fault hit somebody"}
	}
	return result
}

type rule struct {
	text  string
	check func(*Check)
}

// rules returns all of them, in the order in which they are told.
func (t *timeline) rules() []rule {
	felt, lost := "a run's stock fell by one for every order of that run", "no update is lost"
	if !isFenced(t.Lock) {
		felt += ", but for updates lost by a fault that ends the lock under its holder"
		lost = "an update is lost by each fault that must cost " + t.Lock + " one, as predicted"
	}
	return []rule{
		{"a sale answered 200 has its one order", t.checkSoldHaveOrders},
		{"a sale that was refused has no order", t.checkRefusedHaveNoOrder},
		{"a buyer in doubt finds the order by its id, if there is one", t.checkDoubts},
		{"a buyer who repeats a sale with its key is sold to once", t.checkRepeatsSellOnce},
		{"an order was sold to somebody, or its buyer was left in doubt", t.checkOrigins},
		{"an order is in the ledger of its run as its buyer was told: run, stock, token", t.checkReceipts},
		{felt, t.checkStock},
		{lost, t.checkPredictedLoss},
		{"what the buyers and readers of the stock were told fits into one order (linearizable)", t.checkLinearizable},
		{"the stock fell in the order of the fencing tokens, and no token came twice", t.checkTokens},
		{fmt.Sprintf("sales go on within %v of a fault, and a quarter of the rate is back", maxRecovery), t.checkRecovery},
		{"nobody is answered 500", t.checkNoBugs},
		{fmt.Sprintf("every fault hit a sale, after at least %d others", minCalmSales), t.checkFaultsHit},
	}
}

func (t *timeline) checkNoBugs(check *Check) {
	for _, sale := range t.Sales {
		check.Checked++
		if sale.isBug() {
			check.addBroken("500 %s by %s at %s", sale.Code, sale.Replica, t.at(sale.End))
		}
	}
}
