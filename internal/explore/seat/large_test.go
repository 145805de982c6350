package seat

import (
	"strings"
	"testing"
)

// A second reader is told at once that a scenario is too large, also while somebody explores.
func TestWhatIsTooLargeIsNotDrawnAgain(t *testing.T) {
	limits := Usual()
	limits.Map.Schedules = 20
	s := New(limits, nil)
	ask := func(language string) string {
		return answerTo(t.Context(), s, "/seat/oracle", "lock", "v2", "in", "--actors 3 --faults expiry=2", "anomaly", "stuck", "lang", language)
	}
	ask("en")
	end := takeTurn(t, s.turns, "another")
	if says := ask("en"); !strings.HasPrefix(says, "event: failed") || !strings.Contains(says, "20 schedules") {
		t.Errorf("it says %s; want the bound, and nothing before", says)
	}
	end()
	if says := ask("zh"); !strings.Contains(says, "20 种时序") {
		t.Errorf("in Chinese it says %s", says)
	}
}
