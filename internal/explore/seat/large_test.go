package seat

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// What is too large is remembered for a while, the latest of many.
func TestWhatIsTooLarge(t *testing.T) {
	now := time.Now()
	l := large{now: func() time.Time { return now }}
	err := errors.New("too large")
	if l.note("a", err); !errors.Is(l.is("a"), err) || l.is("b") != nil {
		t.Errorf("%v, %v; want a to be too large, and nothing known of b", l.is("a"), l.is("b"))
	}
	now = now.Add(largeFor)
	if l.is("a") != nil || len(l.said) != 0 {
		t.Errorf("%v; want it to be forgotten", l.said)
	}
	for i := range mostLarge + 1 {
		l.note(fmt.Sprint(i), err)
	}
	if l.is("0") != nil || l.is("1") == nil || len(l.said) != mostLarge {
		t.Errorf("%d are kept; want the latest %d", len(l.said), mostLarge)
	}
}

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
	end, err := s.turns.begin(t.Context(), func() {})
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
