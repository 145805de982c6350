package report

import (
	"fmt"

	"lockstep/internal/explore"
	"lockstep/internal/trace"
	"lockstep/internal/web"
)

// writeFound writes the counterexamples into the page, if there is one.
func (r Request) writeFound(found []explore.Counterexample) error {
	var all []web.Schedule
	for _, e := range found {
		all = append(all, r.found(e))
	}
	return r.writePage(all)
}

// found makes a counterexample a schedule of a page.
func (r Request) found(e explore.Counterexample) web.Schedule {
	schedule := r.scheduleOf(e.Schedule, e.Trace, []explore.Shown{{
		Anomaly: e.Anomaly, Title: e.Anomaly.Row().Title.In(r.Scenario.Language), Says: e.Trace.Verdict, Step: e.Length,
	}})
	schedule.Length = e.Length
	return schedule
}

// writeReplayed writes a schedule into the page, if there is one, with the anomaly that it shows first.
func (r Request) writeReplayed(t trace.Trace, shown []explore.Shown) error {
	return r.writePage([]web.Schedule{r.scheduleOf(r.Schedule, t, shown)})
}

// scheduleOf makes a schedule of a page. Its anomaly is the one that is looked for, or the first that it has shown.
func (r Request) scheduleOf(schedule string, t trace.Trace, shown []explore.Shown) web.Schedule {
	made := web.Schedule{Trace: t, Replay: r.replayCommand(schedule)}
	made.Trace.Verdict = "" // it is said at its step
	for _, one := range shown {
		made.Breaches = append(made.Breaches, web.Breach{Step: one.Step, Title: one.Title, Says: one.Says})
		if a := one.Anomaly; made.Anomaly == "" && (r.Anomaly == "" || r.Anomaly == a) {
			made.Anomaly, made.Title, made.Says = string(a), one.Title, explore.SentenceOf(a, r.Scenario)
		}
	}
	return made
}

func (r Request) writePage(all []web.Schedule) error {
	switch {
	case r.Page == nil:
		return nil
	case len(all) == 0:
		fmt.Fprintf(r.Err, "%s is not written: there is no schedule to show\n", r.Page.Name())
		return nil
	}
	document, err := r.page(all)
	if err != nil {
		return err
	}
	return r.Page.Write(document)
}

func (r Request) page(all []web.Schedule) ([]byte, error) {
	return web.Document(web.KindSchedules, "lockstep: "+r.Lock.Name, web.Schedules{
		Lock: r.Lock.Name, Title: r.Lock.Title.In(r.Scenario.Language), Scenario: r.Scenario.String(), Schedules: all,
	}, r.Scenario.Language)
}

// PageOf returns the page of a schedule that a reader has made, who set out to show the anomaly, if one is looked for.
func (r Request) PageOf(t trace.Trace, shown []explore.Shown) ([]byte, error) {
	schedule := r.scheduleOf(t.Schedule(), t, shown)
	if r.Anomaly != "" {
		schedule.Goal = r.task()
	}
	return r.page([]web.Schedule{schedule})
}
