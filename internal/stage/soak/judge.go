package soak

import (
	"fmt"
	"net/http"
)

// Verdict reports whether the shop kept its promises.
type Verdict string

// The verdicts.
const (
	Pass        Verdict = "PASS"         // every rule holds, no update was lost, and every fault hit somebody
	AsPredicted Verdict = "AS PREDICTED" // so it is, but a weak lock has lost updates, by the faults that it cannot stand
	Fail        Verdict = "FAIL"         // some rule does not hold
	Unknown     Verdict = "UNKNOWN"      // something was not put to the test
)

// ExitCode gives what a command ends with that was asked for the verdict.
func (v Verdict) ExitCode() int {
	switch v {
	case Pass, AsPredicted:
		return 0
	case Fail:
		return 1
	default:
		return 2
	}
}

// Check is one rule, and what came of it.
type Check struct {
	Rule      string   `json:"rule"`
	Checked   int      `json:"checked"`
	Excused   int      `json:"excused"`        // would break it, but a fault explains them
	Unchecked int      `json:"unchecked"`      // could not be checked
	Broken    int      `json:"broken"`         // do not hold
	Says      []string `json:"says,omitempty"` // for people: the first cases that do not hold or could not be checked, and remarks
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

// Result is what a record shows, as numbers and words: the command prints it as JSON.
type Result struct {
	Lock      string      `json:"lock"`
	Seconds   float64     `json:"seconds"`
	Sales     int         `json:"sales"`
	PerSecond float64     `json:"per_second"`
	Refused   int         `json:"refused"`
	InDoubt   int         `json:"in_doubt"` // sales whose buyer was not told what became of them
	Lost      int64       `json:"lost"`     // updates
	Oversold  int64       `json:"oversold"`
	Faults    []KindCount `json:"faults"`
	Rules     []Check     `json:"rules"`
	Verdict   Verdict     `json:"verdict"`
	Reasons   []string    `json:"reasons"`
	Picture   string      `json:"picture,omitempty"` // a file
	Again     string      `json:"again"`             // the command that repeats it

	record Record
	shown  stretch // the part of the history that a picture is to show
}

// Examine checks every rule over a record, which it puts in order.
func Examine(record Record) Result {
	t := newTrial(record)
	took := t.Ended.Sub(t.Began).Seconds()
	result := Result{
		Lock: t.Lock, Seconds: took, Sales: len(t.sold), PerSecond: float64(len(t.sold)) / max(took, 1),
		Lost: t.allLost(), Oversold: t.oversold(), Faults: countKinds(t.faults), Verdict: Pass, record: t.Record,
	}
	for _, sale := range t.Sales {
		switch sale.outcome() {
		case unknown:
			result.InDoubt++
		case notMade, neverSent:
			result.Refused++
		}
	}
	linear, shown := t.isLinearizable()
	result.shown = shown
	result.Rules = []Check{
		t.soldHaveOrders(), t.refusedHaveNone(), t.doubtsAreSettled(), t.ordersWereAskedFor(), t.ordersAreAsTold(),
		t.stockFeltEverySale(), t.losesWhatIsPredicted(), linear, t.tokensGrow(), t.rateComesBack(), t.noBugs(), t.wasPutToTheTest(),
	}
	for _, check := range result.Rules {
		switch {
		case check.Broken > 0:
			result.Verdict = Fail
			result.Reasons = append(result.Reasons, fmt.Sprintf("%s: broken %s", check.Rule, times(check.Broken)))
		case check.Unchecked > 0:
			if result.Verdict == Pass {
				result.Verdict = Unknown
			}
			result.Reasons = append(result.Reasons, fmt.Sprintf("%s: not known %s", check.Rule, times(check.Unchecked)))
		}
	}
	switch {
	case result.Verdict != Pass:
	case result.Lost > 0:
		result.Verdict = AsPredicted
		result.Reasons = []string{fmt.Sprintf("updates lost: %s, only by faults that %s cannot stand", thousands(result.Lost), t.Lock)}
	default:
		result.Reasons = []string{"every rule holds, and every fault hit somebody"}
	}
	return result
}

func (t *trial) noBugs() Check {
	check := Check{Rule: "nobody is answered 500"}
	for _, sale := range t.Sales {
		check.Checked++
		if sale.Status == http.StatusInternalServerError {
			check.breaks("500 %s by %s at %s", sale.Code, sale.Replica, t.at(sale.End))
		}
	}
	return check
}
