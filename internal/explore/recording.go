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

// Recording is a schedule that was run: what happened, and the anomalies that this has shown. A counterexample is a Recording of the
// shortest schedule that shows its anomaly.
type Recording struct {
	trace.Trace `json:"trace"`
	Shown       []Shown       `json:"shown"` // each anomaly once, in the order in which they appeared; of a counterexample, the one looked for
	Scenario    NamedScenario `json:"-"`     // in which it ran; its name is "" unless it is one of Scenarios
}

// Shown is an anomaly that a schedule showed.
type Shown struct {
	Anomaly anomaly.Anomaly `json:"anomaly"`
	Title   string          `json:"title"` // how people call it
	Says    string          `json:"says"`  // in words
	Step    int             `json:"step"`  // counted from 1
}

// Anomaly returns the first anomaly that the schedule shows, "" if it shows none.
func (r Recording) Anomaly() Anomaly {
	if len(r.Shown) == 0 {
		return ""
	}
	return r.Shown[0].Anomaly
}

// Length returns the number of steps.
func (r Recording) Length() int { return len(r.Steps) }

// Recording returns what has happened since Record, and what Follow and Look have seen of it.
func (r *Run) Recording() Recording {
	return Recording{
		Trace: r.record.Trace(), Shown: append([]Shown{}, r.shown...), Scenario: NamedScenario{Scenario: r.Engine.Scenario},
	}
}

// Look adds the anomalies that the last transition has shown to those of the Recording: of those that the strategy promises to prevent, or
// that are looked for by name, each once. It reports whether nothing can follow.
func (r *Run) Look() (over bool) {
	found, over := r.Check()
	for _, f := range found {
		if f.Anomaly.IsPromisedBy(r.harness.strategy) || f.Anomaly.OnRequest() {
			r.show(f)
		}
	}
	return over
}

// show adds what the last transition has shown, unless an earlier one has.
func (r *Run) show(f judge.Finding) {
	if slices.ContainsFunc(r.shown, func(known Shown) bool { return known.Anomaly == f.Anomaly }) {
		return
	}
	in := r.Engine.Scenario.Language
	r.shown = append(r.shown, Shown{f.Anomaly, f.Anomaly.Row().Title.In(in), f.In(in), len(r.Engine.Schedule())})
}

// Follow takes the steps of a schedule, in a run that is recorded. It reports whether nothing can follow. It fails at the first step that
// does not fit, saying which and why; the Recording is then of what came before.
func (r *Run) Follow(schedule string) (over bool, err error) {
	tokens := strings.Fields(schedule)
	for i, token := range tokens {
		if err = r.take(token); err == nil {
			over = r.Look()
		} else if lacking := Lacking(r.Engine.Scenario, strings.Join(tokens[:i+1], " "), schedule); lacking != nil {
			err = lacking
		}
		if err = cmp.Or(r.Engine.Err(), err); err != nil {
			return over, AtStep(r.Engine.Scenario, i+1, token, err)
		}
	}
	return over, nil
}

// Preview returns a recording of what a transition would do next, one step, and the anomalies that this would show. It reports false if
// that turns out to be no step of its own. The run stays where it is.
func (r *Run) Preview(t engine.Transition) (would Recording, own bool, err error) {
	next, end := futures{r}.again()
	defer end()
	next.Engine.Transitions()
	next.Record()
	own = next.Apply(t)
	next.Look()
	return next.Recording(), own, next.Engine.Err()
}
