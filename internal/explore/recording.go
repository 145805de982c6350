package explore

import (
	"cmp"
	"slices"
	"strings"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/judge"
	"lockstep/internal/trace"
)

// Recording is a schedule that was run, with the anomalies that it has shown. A counterexample is a Recording of a shortest schedule that
// shows its anomaly.
type Recording struct {
	trace.Trace `json:"trace"`
	Hits        []AnomalyHit  `json:"shown"` // distinct anomalies, in order of appearance; a counterexample has only its own
	Scenario    NamedScenario `json:"-"`     // scenario of the run; it has a name only if Tabulate has explored it
}

// AnomalyHit is an anomaly that a schedule has shown, and the step that showed it.
type AnomalyHit struct {
	Anomaly anomaly.Anomaly `json:"anomaly"` // anomaly, by its id
	Title   string          `json:"title"`   // display name, such as "two holders"
	Says    string          `json:"says"`    // sentence with the names of the sales
	Step    int             `json:"step"`    // 1-based index of the step
}

// Anomaly returns the first anomaly that the schedule has shown, or "" if it has shown none.
func (r Recording) Anomaly() Anomaly {
	if len(r.Hits) == 0 {
		return ""
	}
	return r.Hits[0].Anomaly
}

// Length returns the number of steps in the schedule.
func (r Recording) Length() int { return len(r.Steps) }

// Recording returns the steps since Record was called, and the anomalies that Follow and RecordAnomalies have added.
func (r *Run) Recording() Recording {
	return Recording{
		Trace: r.recorder.Trace(), Hits: append([]AnomalyHit{}, r.hits...), Scenario: NamedScenario{Scenario: r.Engine.Scenario},
	}
}

// RecordAnomalies adds the anomalies that the last transition has shown to the Recording: those that the strategy promises to prevent and
// those that are looked for only on request. It adds each anomaly once. It reports whether no step can follow.
func (r *Run) RecordAnomalies() (over bool) {
	detected, over := r.Check()
	for _, d := range detected {
		if d.Anomaly.IsPromisedBy(r.harness.strategy) || d.Anomaly.IsOnRequest() {
			r.addHit(d)
		}
	}
	return over
}

// addHit adds a detected anomaly to the Recording, unless an earlier step has shown it.
func (r *Run) addHit(d judge.Detection) {
	if slices.ContainsFunc(r.hits, func(known AnomalyHit) bool { return known.Anomaly == d.Anomaly }) {
		return
	}
	in := r.Engine.Scenario.Language
	r.hits = append(r.hits, AnomalyHit{d.Anomaly, d.Anomaly.Row().Title.In(in), d.In(in), len(r.Engine.Schedule())})
}

// Follow executes a schedule; the run must have a recorder. It reports whether no further step can follow. At the first step that does not
// fit, it returns an error with that step and the reason; the Recording then ends before that step.
func (r *Run) Follow(schedule string) (over bool, err error) {
	tokens := strings.Fields(schedule)
	for i, token := range tokens {
		if err = r.take(token); err == nil {
			over = r.RecordAnomalies()
		} else if missing := CheckBudget(r.Engine.Scenario, strings.Join(tokens[:i+1], " "), schedule); missing != nil {
			err = missing
		}
		if err = cmp.Or(r.Engine.Err(), err); err != nil {
			return over, WrapStepError(r.Engine.Scenario, i+1, token, err)
		}
	}
	return over, nil
}

// Preview returns the step that a transition would be, with the anomalies that it would show, without changing the run. distinct is false
// if the transition would have no effect.
func (r *Run) Preview(t engine.Transition) (preview Recording, distinct bool, err error) {
	next, end := lookahead{r}.copyRun()
	defer end()
	next.Engine.Transitions()
	next.Record()
	distinct = next.Apply(t)
	next.RecordAnomalies()
	return next.Recording(), distinct, next.Engine.Err()
}
