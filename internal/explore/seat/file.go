package seat

import (
	"context"
	"fmt"

	"lockstep/internal/explore"
	"lockstep/internal/web"
)

// Document returns a schedule as one file that steps through it without a server. It keeps the reader's goal, if there is one.
func (s *Seat) Document(ctx context.Context, client string, p Place, goal explore.Anomaly) ([]byte, error) {
	session, stale, err := s.sessionOf(ctx, client, p)
	if err != nil {
		return nil, fmt.Errorf("do: %w", err)
	}
	if stale != nil {
		return nil, fmt.Errorf("do: step %d: %w: %s", stale.Step, explore.ErrStale, stale.Says)
	}
	view := session.Now()
	replay := fmt.Sprintf("lockstep explore %s %s --replay %q", view.Lock, view.Scenario, view.Schedule)
	in := p.Scenario.Language
	schedule := web.Schedule{Trace: view.Trace, Replay: replay}
	if goal != "" {
		schedule.Goal = task(view.Lock, goal, in)
	}
	for _, shown := range view.Shown {
		a := shown.Anomaly
		schedule.Breaches = append(schedule.Breaches, web.Breach{Step: shown.Step, Title: shown.Title, Says: shown.Says})
		if schedule.Anomaly == "" && (goal == "" || goal == a) {
			schedule.Anomaly, schedule.Title, schedule.Says = string(a), shown.Title, explore.SentenceOf(a, p.Scenario)
		}
	}
	return web.Document(web.KindSchedules, "lockstep: "+view.Lock, web.Schedules{
		Lock: view.Lock, Title: p.Strategy.Title.In(in), Scenario: view.Scenario, Schedules: []web.Schedule{schedule},
	}, in)
}
