package workshop_test

import (
	"fmt"
	"slices"
	"testing"

	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/learn/workshop"
	"lockstep/internal/test/suite"
)

// Every wrong cure is refused, by the anomaly that it leaves, and by a schedule of which there is no shorter one.
func TestWrongCuresAreRefused(t *testing.T) {
	exercises, refused := workshop.All(), map[int]int{}
	for _, w := range wrongs() {
		refused[w.exercise]++
		if !suite.Long && w.exercise > 1 { // the others in the long suite
			continue
		}
		o := exercises[w.exercise-1].Explore(t.Context(), w.lock, language.English)
		if o.State != workshop.NotYet || o.Anomaly != string(w.shows) || o.Length != w.steps || len(o.Steps) != o.Length {
			t.Errorf("%d, %s: %s, %s/%d in %s; want %s/%d\n%s%s",
				w.exercise, w.name, o.State, o.Anomaly, o.Length, o.Scenario, w.shows, w.steps, o.Says, o.Diagram)
		}
		if err := replays(exercises[w.exercise-1], w, o); err != nil {
			t.Errorf("%d, %s: %v", w.exercise, w.name, err)
		}
		if o.Seconds > slowest {
			t.Errorf("%d, %s: it takes %.1f s", w.exercise, w.name, o.Seconds)
		}
	}
	for i := range exercises {
		if refused[i+1] < 2 {
			t.Errorf("exercise %d has %d wrong cures; want two", i+1, refused[i+1])
		}
	}
}

// replays runs the schedule of an outcome again: it has to show the anomaly, with its last step and no earlier.
func replays(e workshop.Exercise, w wrong, o workshop.Outcome) error {
	look := slices.IndexFunc(e.Looks, func(l workshop.Look) bool { return l.Scenario.String() == o.Scenario })
	if look < 0 {
		return fmt.Errorf("it has no scenario %q", o.Scenario)
	}
	s := w.lock
	s.Name, s.OnNodes = w.name, e.Looks[look].Scenario.Nodes > 0
	replayed, err := explore.Replay(s, e.Looks[look].Scenario, o.Schedule)
	if err != nil {
		return err
	}
	fits := func(shown explore.Shown) bool { return string(shown.Anomaly) == o.Anomaly && shown.Step == o.Length }
	if !slices.ContainsFunc(replayed.Shown, fits) {
		return fmt.Errorf("%q shows %+v; want %s with step %d", o.Schedule, replayed.Shown, o.Anomaly, o.Length)
	}
	return nil
}
