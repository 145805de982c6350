package seat

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// A second reader is told at once that a scenario is too large, also while somebody explores.
func TestWhatIsTooLargeIsNotDrawnAgain(t *testing.T) {
	limits := Usual()
	limits.Map.Schedules = 20
	s := New(limits, Errors{Status: func(error) (int, string) { return http.StatusServiceUnavailable, "failed" }})
	query := url.Values{"lock": {"v2"}, "in": {"--actors 3 --faults expiry=2"}, "anomaly": {"stuck"}}
	asked := func() string {
		soon, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		answer := httptest.NewRecorder()
		s.ServeHTTP(answer, httptest.NewRequestWithContext(soon, http.MethodGet, "/seat/oracle?"+query.Encode(), nil))
		return answer.Body.String()
	}
	asked()
	ticket, err := s.turns.join("")
	if err != nil {
		t.Fatal(err)
	}
	end, err := ticket.begin(t.Context(), func() {})
	if err != nil {
		t.Fatal(err)
	}
	if says := asked(); !strings.HasPrefix(says, "event: failed\n") || !strings.Contains(says, "20 schedules") {
		t.Errorf("it says %q; want the bound, and nothing before", says)
	}
	query.Set("lang", "zh")
	end()
	if says := asked(); !strings.Contains(says, "20 种时序") {
		t.Errorf("in Chinese it says %q", says)
	}
}
