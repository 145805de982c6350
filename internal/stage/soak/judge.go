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

// Result is what a record shows.
type Result struct {
	Record     Record
	Sold       int
	Lost       int64 // updates
	Oversold   int64
	Aftermaths []Aftermath // one for each fault
	Checks     []Check
	Verdict    Verdict
	Window     Window // the part of the history that a picture is to show
}

// Examine checks every rule over a record.
func Examine(r Record) Result {
	result := Result{Record: r, Sold: len(paceOf(r)), Lost: r.lost(), Oversold: r.oversold(), Aftermaths: aftermaths(r), Verdict: Pass}
	all := indexOf(r)
	linear, window := isLinearizable(r, all, result.Aftermaths)
	result.Window = window
	result.Checks = []Check{
		soldHaveOrders(r, all), refusedHaveNone(r, all), doubtsAreSettled(r, all), ordersWereAskedFor(r, all), ordersAreAsTold(r, all),
		stockFeltEverySale(r), losesWhatIsPredicted(r, result.Aftermaths), linear, tokensGrow(r),
		rateComesBack(r, result.Aftermaths), noBugs(r), wasPutToTheTest(r, result.Aftermaths),
	}
	for _, check := range result.Checks {
		switch {
		case check.Broken > 0:
			result.Verdict = Fail
		case check.Unchecked > 0 && result.Verdict == Pass:
			result.Verdict = Unknown
		}
	}
	if result.Verdict == Pass && result.Lost > 0 {
		result.Verdict = AsPredicted
	}
	return result
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
