package seat

import (
	"fmt"
	"net/http"

	"lockstep/internal/web"
)

// file gives a schedule as one file that steps through it without a server.
func (s *Seat) file(w http.ResponseWriter, r *http.Request) error {
	p, err := placeOf(r.URL.Query())
	if err != nil {
		return err
	}
	session, stale, err := p.session()
	if err != nil {
		return fmt.Errorf("do: %w", err)
	}
	defer session.Close()
	if stale != nil {
		return fmt.Errorf("%w: do: step %d: %s", ErrQuery, stale.Step, stale.Says)
	}
	view := session.Now()
	replay := fmt.Sprintf("lockstep explore %s %s --replay %q", view.Lock, view.Scenario, view.Schedule)
	schedule := web.Schedule{Trace: view.Trace, Replay: replay}
	if len(view.Shown) > 0 {
		first := view.Shown[0]
		schedule.Anomaly, schedule.Says = string(first.Anomaly), first.Anomaly.Says().In(p.scenario.Language)
		if first.Step == len(view.Trace.Steps) {
			schedule.Trace.Verdict = first.Says
		}
	}
	document, err := web.Document(web.KindSchedules, "lockstep: "+view.Lock, web.Schedules{
		Lock: view.Lock, Title: p.strategy.Title.In(p.scenario.Language), Scenario: view.Scenario, Schedules: []web.Schedule{schedule},
	}, p.scenario.Language)
	if err != nil {
		return err
	}
	web.Save(w, "lockstep-"+view.Lock+".html", document)
	return nil
}
