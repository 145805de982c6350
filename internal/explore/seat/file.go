package seat

import (
	"fmt"
	"net/http"

	"lockstep/internal/explore"
	"lockstep/internal/web"
)

// file gives a schedule as one file that steps through it without a server. It keeps the reader's goal, if there is one.
func (s *Seat) file(w http.ResponseWriter, r *http.Request) error {
	p, err := placeOf(r.URL.Query())
	if err != nil {
		return err
	}
	goal := explore.Anomaly("")
	if r.URL.Query().Has("anomaly") {
		if goal, err = anomalyOf(r.URL.Query(), p.strategy); err != nil {
			return err
		}
	}
	session, stale, err := s.sessionOf(r, p)
	if err != nil {
		return fmt.Errorf("do: %w", err)
	}
	if stale != nil {
		return fmt.Errorf("do: step %d: %w: %s", stale.Step, explore.ErrStale, stale.Says)
	}
	view := session.Now()
	replay := fmt.Sprintf("lockstep explore %s %s --replay %q", view.Lock, view.Scenario, view.Schedule)
	in := p.scenario.Language
	schedule := web.Schedule{Trace: view.Trace, Replay: replay}
	if goal != "" {
		schedule.Goal = in.Say("Make %s %s", "让 %s %s", view.Lock, goal.Row().Task.In(in))
	}
	for _, shown := range view.Shown {
		a := shown.Anomaly
		schedule.Breaches = append(schedule.Breaches, web.Breach{Step: shown.Step, Title: shown.Title, Says: shown.Says})
		if schedule.Anomaly == "" && (goal == "" || goal == a) {
			schedule.Anomaly, schedule.Title, schedule.Says = string(a), shown.Title, explore.SentenceOf(a, p.scenario)
		}
	}
	document, err := web.Document(web.KindSchedules, "lockstep: "+view.Lock, web.Schedules{
		Lock: view.Lock, Title: p.strategy.Title.In(in), Scenario: view.Scenario, Schedules: []web.Schedule{schedule},
	}, in)
	if err != nil {
		return err
	}
	web.Save(w, "lockstep-"+view.Lock+".html", document)
	return nil
}
