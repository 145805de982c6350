package seat

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
	"lockstep/internal/language"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/evolution"
)

// A second reader is told at once that a scenario is too large, also while somebody explores.
func TestWhatIsTooLargeIsNotDrawnAgain(t *testing.T) {
	limits := Usual()
	limits.Map.Schedules = 20
	s := New(limits)
	strategy, unknown := evolution.Find("v2")
	in, bad := explore.ParseScenario("--actors 3 --faults expiry=2")
	if err := errors.Join(unknown, bad); err != nil {
		t.Fatal(err)
	}
	asked := func() (told int, err error) {
		soon, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		session, err := s.Session(soon, "", Place{Strategy: strategy, Scenario: in})
		if err != nil {
			t.Fatal(err)
		}
		ticket, err := s.Join("")
		if err != nil {
			t.Fatal(err)
		}
		defer ticket.Leave()
		_, err = s.Oracle(soon, ticket, session, anomaly.Stuck, func(string, any) { told++ })
		return told, err
	}
	_, _ = asked()
	ticket, err := s.turns.join("")
	if err != nil {
		t.Fatal(err)
	}
	end, err := ticket.begin(t.Context(), func() {})
	if err != nil {
		t.Fatal(err)
	}
	if told, err := asked(); told > 0 || !errors.Is(err, session.ErrTooLarge) || !strings.Contains(err.Error(), "20 schedules") {
		t.Errorf("it says %v, and %d before; want the bound, and nothing before", err, told)
	}
	in.Language = language.Chinese
	end()
	if _, err := asked(); err == nil || !strings.Contains(err.Error(), "20 种时序") {
		t.Errorf("in Chinese it says %v", err)
	}
}
