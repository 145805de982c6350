package report

import (
	"fmt"

	"lockstep/internal/explore"
	"lockstep/internal/explore/trace"
	"lockstep/internal/web"
)

// writeFound writes the counterexamples into the page, if there is one.
func (r Request) writeFound(found []explore.Counterexample) error {
	var all []web.Schedule
	for _, e := range found {
		all = append(all, web.Schedule{
			Anomaly: string(e.Anomaly), Says: e.Anomaly.Says().In(r.Scenario.Language), Length: e.Length, Trace: e.Trace,
			Replay: r.replays(e.Schedule),
		})
	}
	return r.writePage(all)
}

// writeReplayed writes a schedule into the page, if there is one, with the anomaly that it shows first.
func (r Request) writeReplayed(t trace.Trace, shown []explore.Shown) error {
	schedule := web.Schedule{Trace: t, Replay: r.replays(r.Schedule)}
	if len(shown) > 0 {
		schedule.Anomaly, schedule.Says = string(shown[0].Anomaly), shown[0].Anomaly.Says().In(r.Scenario.Language)
		schedule.Trace.Verdict = shown[0].Says
	}
	return r.writePage([]web.Schedule{schedule})
}

func (r Request) writePage(all []web.Schedule) error {
	switch {
	case r.Page == nil:
		return nil
	case len(all) == 0:
		fmt.Fprintf(r.Err, "%s is not written: there is no schedule to show\n", r.Page.Name())
		return nil
	}
	document, err := web.Document(web.KindSchedules, "lockstep: "+r.Lock.Name, web.Schedules{
		Lock: r.Lock.Name, Title: r.Lock.Title.In(r.Scenario.Language), Scenario: r.Scenario.String(), Schedules: all,
	}, r.Scenario.Language)
	if err != nil {
		return err
	}
	return r.Page.Write(document)
}
