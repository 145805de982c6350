package seat

import (
	"strings"
	"testing"
)

// The error of a scenario that is too large is cached: a second reader gets it at once, even while another explores.
func TestTooLargeMapIsNotDrawnAgain(t *testing.T) {
	limits := DefaultLimits()
	limits.Map.Schedules = 20
	s := New(limits, nil)
	ask := func(language string) string {
		return answerTo(t.Context(), s, "/seat/oracle", "lock", "v2", "in", "--actors 3 --faults expiry=2", "anomaly", "stuck", "lang", language)
	}
	ask("en")
	end := takeTurn(t, s.explorations, "another")
	if says := ask("en"); !strings.HasPrefix(says, "event: failed") || !strings.Contains(says, "20 schedules") {
		t.Errorf("it says %s; want the bound, and nothing before", says)
	}
	end()
	if says := ask("zh"); !strings.Contains(says, "20 种时序") {
		t.Errorf("in Chinese it says %s", says)
	}
}
