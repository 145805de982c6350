package seat

import (
	"slices"
	"strings"
	"sync"

	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
)

const mostWays = 500

// ways remembers shortest ways to anomalies: those of the table, and those that hints have found. What is left of such a way is a shortest
// one from each state on it, so who follows a hint need not wait for the next.
type ways struct {
	mu    sync.Mutex
	known []way // the latest last
}

type way struct {
	goal     string
	from     int // the step after which it is a shortest one
	schedule []string
}

// goalIn names an anomaly of a lock in a scenario.
func goalIn(lock string, in explore.Scenario, a explore.Anomaly) string {
	return strings.Join([]string{lock, in.String(), string(a)}, "\n")
}

// note remembers that a schedule shows an anomaly in as few steps as can be, after the first steps of it.
func (w *ways) note(goal string, from int, schedule string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.known) == mostWays {
		w.known = slices.Delete(w.known, 0, 1)
	}
	w.known = append(w.known, way{goal, from, strings.Fields(schedule)})
}

// after gives the hint for who has come so far; false, if that is on no way that is known.
func (w *ways) after(goal, schedule string) (session.Hint, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	here := strings.Fields(schedule)
	for _, one := range w.known {
		left := len(one.schedule) - len(here)
		if one.goal != goal || left < 0 || len(here) < one.from || !slices.Equal(one.schedule[:len(here)], here) {
			continue
		}
		hint := session.Hint{Steps: left, Schedule: strings.Join(one.schedule, " ")}
		if left > 0 {
			hint.Next = one.schedule[len(here)]
		}
		return hint, true
	}
	return session.Hint{}, false
}
