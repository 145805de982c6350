package soak

import (
	"fmt"

	"lockstep/internal/verdict"
)

// Check is a rule with the numbers of cases on which it was checked.
type Check struct {
	Rule      string   `json:"rule"`           // sentence that should hold
	Checked   int      `json:"checked"`        // cases that were checked
	Excused   int      `json:"excused"`        // cases that break the rule only because of a fault
	Unchecked int      `json:"unchecked"`      // cases that could not be checked
	Broken    int      `json:"broken"`         // cases that break the rule
	Notes     []string `json:"says,omitempty"` // remarks, and the first cases that break the rule or could not be checked
}

// maxExamples is the largest number of broken cases, and of unchecked cases, that a Check describes.
const maxExamples = 5

// addBroken counts a case that breaks the rule, and describes it.
func (c *Check) addBroken(format string, args ...any) {
	if c.Broken++; c.Broken <= maxExamples {
		c.addNote("BROKEN: "+format, args...)
	}
}

// addUnchecked counts a case that could not be checked, and describes it.
func (c *Check) addUnchecked(format string, args ...any) {
	if c.Unchecked++; c.Unchecked <= maxExamples {
		c.addNote("UNKNOWN: "+format, args...)
	}
}

// addNote adds a remark.
func (c *Check) addNote(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// Result is the verdict on a record, with the numbers and rules that led to it. The command prints it as JSON.
type Result struct {
	Lock      string          `json:"lock"`
	Seconds   float64         `json:"seconds"`    // duration without the warm-up
	Sales     int             `json:"sales"`      // sales that were made
	PerSecond float64         `json:"per_second"` // sales per second
	Refused   int             `json:"refused"`    // requests whose answer is an error that rules out a sale
	InDoubt   int             `json:"in_doubt"`   // requests of unknown outcome
	Lost      int64           `json:"lost"`       // lost updates
	Oversold  int64           `json:"oversold"`   // largest number of pieces that any run oversold
	Faults    []KindSummary   `json:"faults"`
	Rules     []Check         `json:"rules"`
	Verdict   verdict.Verdict `json:"verdict"`
	Reasons   []string        `json:"reasons"`           // reasons for the verdict
	Picture   string          `json:"picture,omitempty"` // file name of the picture; empty: none
	Command   string          `json:"again"`             // command that repeats the soak

	record  Record
	excerpt excerpt // part of the history for the picture
}

// Examine sorts a record, checks every rule on it, and returns the result.
func Examine(record Record) Result {
	t := newTimeline(record)
	seconds := t.Ended.Sub(t.Began).Seconds()
	result := Result{
		Lock: t.Lock, Seconds: seconds, Sales: len(t.saleTimes), PerSecond: float64(len(t.saleTimes)) / max(seconds, 1),
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
			result.Reasons = append(result.Reasons, fmt.Sprintf("%s: broken %s", check.Rule, countText(check.Broken)))
		case check.Unchecked > 0:
			if result.Verdict == verdict.Pass {
				result.Verdict = verdict.Untested
			}
			result.Reasons = append(result.Reasons, fmt.Sprintf("%s: could not be checked %s", check.Rule, countText(check.Unchecked)))
		}
	}
	result.excerpt = t.excerpt
	switch {
	case result.Verdict != verdict.Pass:
	case result.Lost > 0:
		result.Verdict = verdict.AsPredicted
		result.Reasons = []string{fmt.Sprintf("updates lost: %s, only through faults that %s does not tolerate", thousands(result.Lost), t.Lock)}
	default:
		result.Reasons = []string{"every rule holds, and every fault hit a sale"}
	}
	return result
}

// rule is a sentence that should hold, and the function that checks the sentence on the timeline.
type rule struct {
	text  string       // sentence
	check func(*Check) // adds the cases to the Check
}

// rules returns all rules, in the order in which they are printed.
func (t *timeline) rules() []rule {
	stock, losses := "the stock of a run fell by one for each of its orders", "no update is lost"
	if !isFenced(t.Lock) {
		stock += ", except for updates lost through a fault that ends the lock under its holder"
		losses = "each fault that must cost " + t.Lock + " an update does so, as predicted"
	}
	return []rule{
		{"a sale answered 200 has exactly one order", t.checkSoldHaveOrders},
		{"a refused sale has no order", t.checkRefusedHaveNoOrder},
		{"GET /orders/{id} agrees with the ledgers about sales of unknown outcome", t.checkLookups},
		{"a sale repeated with its Idempotency-Key is made at most once", t.checkRepeatsSellOnce},
		{"an order belongs to a sale that was answered 200 or whose outcome is unknown", t.checkOrigins},
		{"an order in a ledger agrees with the answer to its buyer: run, stock, fencing token", t.checkReceipts},
		{stock, t.checkStock},
		{losses, t.checkPredictedLoss},
		{"the answers to buyers and readers of the stock are linearizable", t.checkLinearizable},
		{"the stock fell in the order of the fencing tokens, and no token was used twice", t.checkTokens},
		{fmt.Sprintf("sales resumed within %v after each fault, at a quarter of the usual rate or more", maxRecovery), t.checkRecovery},
		{"no sale is answered 500", t.checkNoBugs},
		{fmt.Sprintf("each fault hit a sale, after at least %d sales without a fault", minCalmSales), t.checkFaultsHit},
	}
}

// checkNoBugs checks that no sale is answered 500.
func (t *timeline) checkNoBugs(check *Check) {
	for _, sale := range t.Sales {
		check.Checked++
		if sale.isBug() {
			check.addBroken("500 %s from %s at %s", sale.Code, sale.Replica, t.offsetText(sale.End))
		}
	}
}
