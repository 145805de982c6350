package seat_test

import (
	"regexp"
	"testing"

	"lockstep/internal/explore"
	"lockstep/internal/explore/seat"
)

var han = regexp.MustCompile(`\p{Han}`)

// All texts are in the requested language, and codes do not depend on it.
func TestTextsAreTranslated(t *testing.T) {
	s := open(t, limitsWithoutTable())
	texts := func(in string) (all []string, code string) {
		index := get[seat.Index](t, s, "/seat", "lang", in)
		for _, lock := range index.Locks {
			all = append(all, lock.Adds, lock.Costs, lock.StillBroken)
		}
		for _, fault := range index.Faults {
			all = append(all, fault.Says)
		}
		for _, anomaly := range index.Anomalies {
			all = append(all, anomaly.Says, anomaly.Task)
		}
		state := get[seat.State](t, s, "/seat/state", "lang", in, "lock", "v2", "in", "--faults expiry=1", "do", "A:SET expiry B:SET")
		for _, step := range state.View.Steps {
			all = append(all, step.Says)
		}
		for _, shown := range state.View.Hits {
			all = append(all, shown.Says)
		}
		for _, c := range state.View.Choices {
			all = append(all, c.Says)
		}
		for _, d := range state.View.Disabled {
			all = append(all, d.Why)
		}
		//nolint:dupword // A asks again
		stale := get[seat.State](t, s, "/seat/state", "lang", in, "lock", "v2", "do", "A:SET A:SET")
		comparison := get[seat.LinkedComparison](t, s, "/seat/beside", "lang", in,
			"lock", "v5", "with", "v6", "in", "--faults expiry=1", "do", "A:lock expiry")
		return append(append(all, stale.Stale.Says), comparison.Why...), state.Code
	}
	english, code := texts("en")
	chinese, other := texts("zh")
	if len(english) != len(chinese) || len(english) < 3*20+len(explore.AllFaults())+len(explore.Anomalies()) || code != other {
		t.Fatalf("%d texts in English, code %s; %d in Chinese, code %s", len(english), code, len(chinese), other)
	}
	for i, text := range chinese {
		if !han.MatchString(text) || han.MatchString(english[i]) {
			t.Errorf("%q is in Chinese %q", english[i], text)
		}
	}
}
