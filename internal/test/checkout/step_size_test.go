package checkout

import (
	"slices"
	"strings"
	"testing"

	"lockstep/internal/evolution"
	"lockstep/internal/language"
	stepsof "lockstep/internal/steps"
)

// A step of the evolution is a lesson: what lockstep diff shows of it, without comments and blank lines, has to fit on a few screens.
const (
	mostChanged      = 130
	mostChangedEarly = 60 // of a step from a lock before v5
)

// larger are steps with more changed lines than a step should have, and how many they may have until they are smaller.
var larger = map[string]int{
	"v0-v1":      73,  // all of v1 is new
	"v5-v6":      170, // the renewal is new
	"v9-redlock": 279, // the quorum is new
}

// steps gives those of the story, with their code.
func steps(t *testing.T) (all []stepsof.Detail) {
	t.Helper()
	for _, s := range stepsof.All(language.English) {
		if strings.HasPrefix(s.From, "v") {
			step, err := stepsof.Find(s.Pair(), language.English)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, step)
		}
	}
	return all
}

func TestStepsAreSmall(t *testing.T) {
	story := evolution.Names()
	for _, s := range steps(t) {
		n, most := s.Added()+s.Removed(), mostChanged
		if slices.Index(story, s.From) < slices.Index(story, "v5") {
			most = mostChangedEarly
		}
		t.Logf("lockstep diff %s %s: %d lines", s.From, s.To, n)
		if is := larger[s.Pair()]; is > 0 && n <= most {
			t.Errorf("%s changes %d lines, and is no larger than others: leave it out of larger", s.Pair(), n)
		} else if most = max(most, is); n > most || n == 0 {
			t.Errorf("%s changes %d lines; want %d at most", s.Pair(), n, most)
		}
	}
}
