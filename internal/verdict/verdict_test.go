package verdict_test

import (
	"testing"

	"lockstep/internal/verdict"
)

// Each vocabulary has a word for each exit code. A table shows the verdicts on a claim, each by a sign of its own.
func TestVerdicts(t *testing.T) {
	for code, words := range [][]verdict.Verdict{
		{verdict.Pass, verdict.AsPredicted, verdict.Holds, verdict.Done},
		{verdict.Oversold, verdict.Undersold, verdict.Fail, verdict.Broken, verdict.NotYet},
		{verdict.Untested, verdict.Unknown, verdict.NA, verdict.Failed, ""},
	} {
		for _, v := range words {
			if got := v.ExitCode(); got != code {
				t.Errorf("%s: exit code %d; want %d", v, got, code)
			}
		}
	}
	if verdict.Of(true, true) != verdict.Broken || verdict.Of(true, false) != verdict.Broken ||
		verdict.Of(false, true) != verdict.Holds || verdict.Of(false, false) != verdict.Unknown {
		t.Error("what was found breaks a claim, and a search that is not complete leaves it unknown")
	}
	marks := map[string]bool{}
	for _, v := range []verdict.Verdict{verdict.Broken, verdict.Holds, verdict.Unknown, verdict.NA, ""} {
		if s := v.Sign(); s.Verdict != v || marks[s.Mark] {
			t.Errorf("%q is shown as %q; want a sign of its own", v, s.Mark)
		} else {
			marks[s.Mark] = true
		}
	}
}
