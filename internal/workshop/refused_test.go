package workshop_test

import (
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/suite"
	"lockstep/internal/workshop"
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
