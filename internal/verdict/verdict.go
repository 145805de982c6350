// Package verdict is what a command has found: of a run or a soak, of a claim about a lock, of an exercise. Each has its words.
package verdict

import "lockstep/internal/language"

// Verdict is one word for what was found. Empty: nothing was run.
type Verdict string

// The verdicts.
const (
	// Of the stock and the orders of a run. A soak has Pass and Untested, too.
	Pass        Verdict = "PASS"         // a run: stock and orders agree, and at least two sales overlapped; a soak: every rule holds
	Oversold    Verdict = "OVERSOLD"     // more was sold than the stock felt, or than there was
	Undersold   Verdict = "UNDERSOLD"    // the stock fell by more than was sold
	Untested    Verdict = "UNKNOWN"      // something was not put to the test
	AsPredicted Verdict = "AS PREDICTED" // a weak lock has lost updates, by the faults that it cannot stand; otherwise as Pass
	Fail        Verdict = "FAIL"         // some rule does not hold

	// Of a claim: an exploration, a lab, a scheduled job.
	Holds   Verdict = "holds"
	Broken  Verdict = "broken"
	Unknown Verdict = "unknown" // it was not put to the test, or not to the end
	NA      Verdict = "n/a"     // the lock does not promise it, or the lab is not for this lock

	// Of an exercise.
	Done   Verdict = "done"    // the claim is met
	NotYet Verdict = "not yet" // a schedule shows an anomaly, or the claim was not put to the test
	Failed Verdict = "failed"  // nothing can be said: the code does not compile, panics, or moves behind the explorer's back
)

// ExitCode returns what a command ends with that was asked for the verdict: 0, 1 or 2.
func (v Verdict) ExitCode() int {
	switch v {
	case Pass, AsPredicted, Holds, Done:
		return 0
	case Oversold, Undersold, Fail, Broken, NotYet:
		return 1
	default:
		return 2
	}
}

// Of returns the verdict on a claim: broken if something was found against it, and otherwise unknown unless the search was complete.
func Of(found, complete bool) Verdict {
	switch {
	case found:
		return Broken
	case complete:
		return Holds
	default:
		return Unknown
	}
}

// Sign is how a table shows a verdict on a claim.
type Sign struct {
	Verdict
	Mark  string
	Class string // in HTML
	Word  language.Text
}

// Signs returns all, in the order in which a legend has them.
func Signs() []Sign {
	return []Sign{
		{Broken, "✗", "broken", language.Both("broken", "会发生")},
		{Holds, "✓", "holds", language.Both("holds", "不会发生")},
		{Unknown, "?", "unknown", language.Both("unknown", "未知")},
		{NA, "–", "na", language.Both("n/a", "不适用")},
		{"", "·", "notrun", language.Both("not run", "未运行")},
	}
}

// Sign returns how a table shows it.
func (v Verdict) Sign() (s Sign) {
	for _, s = range Signs() {
		if s.Verdict == v {
			break
		}
	}
	return s
}

// In returns the word for it in a language.
func (v Verdict) In(in language.Language) string { return v.Sign().Word.In(in) }
