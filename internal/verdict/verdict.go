// Package verdict defines the verdicts of commands and their exit codes: on a run or a soak, on a claim about a lock, on an exercise.
package verdict

import "lockstep/internal/language"

// Verdict is the result of a command in one word. Empty: nothing was run.
type Verdict string

// The verdicts. Untested and Unknown are different values: the first is a verdict on a run, the second on a claim.
const (
	// Verdicts on a run. A soak has Pass, Untested, AsPredicted and Fail.
	Pass        Verdict = "PASS"         // run: stock and orders agree, and at least two sales overlapped; soak: every rule holds
	Oversold    Verdict = "OVERSOLD"     // more was sold than the stock fell by, or than there was
	Undersold   Verdict = "UNDERSOLD"    // the stock fell by more than was sold
	Untested    Verdict = "UNKNOWN"      // too little happened to tell, such as no two sales that overlapped
	AsPredicted Verdict = "AS PREDICTED" // soak: a weak lock failed only as expected: it lost updates under faults that it cannot survive
	Fail        Verdict = "FAIL"         // soak: some rule does not hold

	// Verdicts on a claim: of an exploration, a lab, a scheduled job.
	Holds   Verdict = "holds"   // nothing was found against the claim, and the search was complete
	Broken  Verdict = "broken"  // a counterexample was found
	Unknown Verdict = "unknown" // the claim was not tested, or not completely
	NA      Verdict = "n/a"     // the lock does not promise it, or the lab is not for this lock

	// Verdicts on an exercise.
	Done   Verdict = "done"    // the lock meets the claim
	NotYet Verdict = "not yet" // a schedule shows an anomaly, or the claim was not put to the test
	Failed Verdict = "failed"  // no verdict: the code does not compile, panics, or acts outside the explorer's control
)

// ExitCode returns the exit code of a command with this verdict: 0 for what was wanted, 1 for the opposite, 2 for unknown.
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

// Search is the outcome of a search for counterexamples to a claim.
type Search struct {
	Found    bool // a counterexample was found
	Complete bool // nothing was left out
}

// Verdict returns Broken if a counterexample was found, Holds if a complete search found none, and otherwise Unknown.
func (s Search) Verdict() Verdict {
	switch {
	case s.Found:
		return Broken
	case s.Complete:
		return Holds
	default:
		return Unknown
	}
}

// Sign is the symbol of a verdict on a claim, as tables show it.
type Sign struct {
	Verdict
	Mark  string        // one character
	Class string        // CSS class
	Word  language.Text // the verdict as a word in a sentence
}

// Signs returns all signs, in the order of a legend.
func Signs() []Sign {
	return []Sign{
		{Broken, "✗", "broken", language.Both("broken", "会发生")},
		{Holds, "✓", "holds", language.Both("holds", "不会发生")},
		{Unknown, "?", "unknown", language.Both("unknown", "未知")},
		{NA, "–", "na", language.Both("n/a", "不适用")},
		{"", "·", "notrun", language.Both("not run", "未运行")},
	}
}

// Sign returns the sign of the verdict, or the sign "not run" for a verdict that is not on a claim.
func (v Verdict) Sign() (s Sign) {
	for _, s = range Signs() {
		if s.Verdict == v {
			break
		}
	}
	return s
}

// In returns the word for the verdict in a language.
func (v Verdict) In(in language.Language) string { return v.Sign().Word.In(in) }
