package report

import (
	"fmt"

	"lockstep/internal/explore"
	"lockstep/internal/web"
)

// scheduleDocument is the data of a web.KindSchedules document: schedules of one lock to step through.
type scheduleDocument struct {
	Lock      string     `json:"lock"`      // name of the lock
	Title     string     `json:"title"`     // title of the lock
	Scenario  string     `json:"scenario"`  // flags of lockstep explore
	Schedules []Schedule `json:"schedules"` // schedules to step through
}

// Schedule is a schedule to step through, with its texts.
type Schedule struct {
	explore.Recording

	Goal           string          `json:"goal"`    // anomaly that the author of the schedule wanted to show; "": found by an exploration
	Anomaly        explore.Anomaly `json:"anomaly"` // anomaly that the schedule shows: the requested one, or the first; "": none
	Title          string          `json:"title"`   // display name of the anomaly
	Says           string          `json:"says"`    // description of the anomaly
	ShortestLength int             `json:"length"`  // length of the shortest schedule that shows the anomaly; 0: unknown
	Replay         string          `json:"replay"`  // command that replays the schedule
	VerdictText    string          `json:"broken"`  // verdict of the exploration; "": not found by an exploration
	Why            string          `json:"why"`     // explanation; "": not requested
}

// writeCounterexamples writes the counterexamples to Page, if set.
func (r Request) writeCounterexamples(found []explore.Recording) error {
	var all []Schedule
	for _, e := range found {
		all = append(all, r.counterexampleSchedule(e))
	}
	return r.writePage(all)
}

// counterexampleSchedule converts a counterexample, which is a shortest schedule, to a Schedule.
func (r Request) counterexampleSchedule(e explore.Recording) Schedule {
	schedule := r.newSchedule(e)
	schedule.ShortestLength = e.Length()
	return schedule
}

// newSchedule converts a recording to a Schedule. Its anomaly is the requested one, or otherwise the first that the recording shows.
func (r Request) newSchedule(recording explore.Recording) Schedule {
	schedule := Schedule{Recording: recording, Replay: r.replayCommand(recording.Schedule()) + r.LangFlag}
	schedule.Verdict = "" // The page shows it at its step.
	for _, hit := range recording.Hits {
		if a := hit.Anomaly; schedule.Anomaly == "" && (r.Anomaly == "" || r.Anomaly == a) {
			schedule.Anomaly, schedule.Title, schedule.Says = a, hit.Title, explore.AnomalyText(a, r.Scenario)
		}
	}
	return schedule
}

// writePage writes schedules to Page, if set.
func (r Request) writePage(all []Schedule) error {
	switch {
	case r.Page == nil:
		return nil
	case len(all) == 0:
		fmt.Fprint(r.Err, r.Scenario.Say("%s was not written: there is no schedule to show\n", "没有写出 %s：没有可展示的时序\n", r.Page.Name()))
		return nil
	}
	document, err := r.newPage(all)
	if err != nil {
		return err
	}
	return r.Page.Write(document)
}

// newPage returns the HTML document of schedules.
func (r Request) newPage(all []Schedule) ([]byte, error) {
	return web.Document(web.KindSchedules, "lockstep: "+r.Lock.Name, scheduleDocument{
		Lock: r.Lock.Name, Title: r.Lock.Title.In(r.Scenario.Language), Scenario: r.Scenario.String(), Schedules: all,
	}, r.Scenario.Language)
}

// PageOf returns the HTML document of a schedule that a reader has made. If Anomaly is set, the document states it as the reader's goal.
func (r Request) PageOf(recording explore.Recording) ([]byte, error) {
	schedule := r.newSchedule(recording)
	if r.Anomaly != "" {
		schedule.Goal = r.goalText()
	}
	return r.newPage([]Schedule{schedule})
}
