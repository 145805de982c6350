package report

import (
	"fmt"

	"lockstep/internal/explore"
	"lockstep/internal/web"
)

// schedules are the data of web.KindSchedules: those of a lock that a document steps through.
type scheduleDocument struct {
	Lock      string     `json:"lock"`
	Title     string     `json:"title"`    // of the lock
	Scenario  string     `json:"scenario"` // as flags
	Schedules []Schedule `json:"schedules"`
}

// Schedule is one to step through.
type Schedule struct {
	explore.Recording

	Goal           string          `json:"goal"`    // of the reader who made it, in words; "" if none
	Anomaly        explore.Anomaly `json:"anomaly"` // that it shows, "" if none; with a goal, that alone
	Title          string          `json:"title"`   // how people call the anomaly
	Says           string          `json:"says"`    // what the anomaly is
	ShortestLength int             `json:"length"`  // no schedule that shows it is shorter; 0: nobody knows
	Replay         string          `json:"replay"`  // the command that replays it
	VerdictText    string          `json:"broken"`  // the verdict of an exploration; "" if this was not explored
	Why            string          `json:"why"`     // "" if that was not asked for
}

// writeFound writes the counterexamples into the page, if there is one.
func (r Request) writeCounterexamples(found []explore.Recording) error {
	var all []Schedule
	for _, e := range found {
		all = append(all, r.counterexampleSchedule(e))
	}
	return r.writePage(all)
}

// found makes a counterexample a schedule of a page.
func (r Request) counterexampleSchedule(e explore.Recording) Schedule {
	schedule := r.newSchedule(e)
	schedule.ShortestLength = e.Length()
	return schedule
}

// scheduleOf makes a schedule of a page. Its anomaly is the one that is looked for, or the first that it has shown.
func (r Request) newSchedule(recording explore.Recording) Schedule {
	schedule := Schedule{Recording: recording, Replay: r.replayCommand(recording.Schedule())}
	schedule.Verdict = "" // it is said at its step
	for _, hit := range recording.Hits {
		if a := hit.Anomaly; schedule.Anomaly == "" && (r.Anomaly == "" || r.Anomaly == a) {
			schedule.Anomaly, schedule.Title, schedule.Says = a, hit.Title, explore.AnomalyText(a, r.Scenario)
		}
	}
	return schedule
}

func (r Request) writePage(all []Schedule) error {
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

func (r Request) page(all []Schedule) ([]byte, error) {
	return web.Document(web.KindSchedules, "lockstep: "+r.Lock.Name, scheduleDocument{
		Lock: r.Lock.Name, Title: r.Lock.Title.In(r.Scenario.Language), Scenario: r.Scenario.String(), Schedules: all,
	}, r.Scenario.Language)
}

// PageOf returns the page of a schedule that a reader has made, who set out to show the anomaly, if one is looked for.
func (r Request) PageOf(recording explore.Recording) ([]byte, error) {
	schedule := r.newSchedule(recording)
	if r.Anomaly != "" {
		schedule.Goal = r.goalText()
	}
	return r.page([]Schedule{schedule})
}
