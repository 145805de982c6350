package verdict_test

import (
	"testing"

	"lockstep/internal/verdict"
)

func TestVerdictOfSearch(t *testing.T) {
	for search, want := range map[verdict.Search]verdict.Verdict{
		{Found: true, Complete: true}:  verdict.Broken,
		{Found: true, Complete: false}: verdict.Broken,
		{Found: false, Complete: true}: verdict.Holds,
		{}:                             verdict.Unknown,
	} {
		if got := search.Verdict(); got != want {
			t.Errorf("%+v: %s, want %s", search, got, want)
		}
	}
}

// Each vocabulary has a verdict for each exit code, and each verdict on a claim has a unique sign.
func TestVerdictsHaveExitCodesAndSigns(t *testing.T) {
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
	marks := map[string]bool{}
	for _, v := range []verdict.Verdict{verdict.Broken, verdict.Holds, verdict.Unknown, verdict.NA, ""} {
		if s := v.Sign(); s.Verdict != v || marks[s.Mark] {
			t.Errorf("%q is shown as %q; want a sign of its own", v, s.Mark)
		} else {
			marks[s.Mark] = true
		}
	}
}
