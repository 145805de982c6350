package variants_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/explore"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/verdict"
	"lockstep/internal/test/suite"
	"lockstep/internal/test/variants"
)

// bounds are more than any of the variants needs.
func bounds() explore.Bounds {
	return explore.Bounds{Schedules: 20_000, Memory: 1 << 30, Workers: 1}
}

// answer is what the explorer says of a variant, in short.
func answer(ctx context.Context, v variants.Variant, bounds explore.Bounds) (short string, result explore.Result) {
	var goal explore.Goal
	if v.Shows != "" {
		goal.Anomalies = []explore.Anomaly{v.Shows}
	}
	result, err := explore.Explore(ctx, v.Lock, v.Scenario, goal, bounds)
	switch {
	case errors.Is(err, explore.ErrBlind):
		return "blind: " + err.Error(), result
	case errors.Is(err, explore.ErrUnrepeatable):
		return "unrepeatable: " + err.Error(), result
	case err != nil:
		return "error: " + err.Error(), result
	case len(result.Found) > 0:
		return fmt.Sprintf("%s in %d steps", result.Found[0].Anomaly, result.Found[0].Length), result
	default:
		return string(result.Verdict()), result
	}
}

// fits reports whether an answer is the one that a variant deserves.
func fits(v variants.Variant, answer string) bool {
	switch {
	case v.Shows == "":
		return answer == string(verdict.Holds)
	case v.Steps == 0:
		return strings.HasPrefix(answer, string(v.Shows)+" in ")
	default:
		return answer == fmt.Sprintf("%s in %d steps", v.Shows, v.Steps)
	}
}

func TestBroken(t *testing.T) { judged(t, variants.Broken()) }

func TestRight(t *testing.T) { judged(t, variants.Right()) }

// A cut neither hides what a lock does that remembers something, nor makes it longer.
func TestTheCutsHideNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it explores what TestBroken begins to explore")
	}
	few := 3 // steps
	if suite.Long {
		few = 5 // so many can be explored without any cut
	}
	for _, v := range variants.Broken() {
		if v.Steps == 0 || v.Steps > few || v.Gap.Today != "" {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			every := bounds()
			every.EveryState, every.EverySymmetry = true, true
			if said, _ := answer(t.Context(), v, every); !fits(v, said) {
				t.Errorf("without the cuts: %s; want %s in %d steps", said, v.Shows, v.Steps)
			}
		})
	}
}

// Where nothing in Redis says whose a lock is, the result says what that hides, and to look for that alone is unknown.
func TestWhatRedisDoesNotTell(t *testing.T) {
	hidden := []explore.Anomaly{anomaly.ForeignRelease, anomaly.Untold}
	for name, want := range map[string][]explore.Anomaly{
		"a ticket in a hash": hidden, "counts those who came": hidden, "a member of a set": hidden, "a queue in the key": nil, "SET NX PX": nil,
	} {
		t.Run(name, func(t *testing.T) {
			all := variants.Right()
			v := all[slices.IndexFunc(all, func(v variants.Variant) bool { return v.Name == name })]
			v.Scenario.Polls = 1
			result, err := explore.Explore(t.Context(), v.Lock, v.Scenario, explore.Goal{}, bounds())
			if err != nil || result.Verdict() != verdict.Holds || !slices.Equal(result.Unjudged(), want) {
				t.Errorf("%s, %v: %q are not judged; want %q", result.Verdict(), err, result.Unjudged(), want)
			}
			result, err = explore.Explore(t.Context(), v.Lock, v.Scenario, explore.Goal{Anomalies: hidden}, bounds())
			if known := result.Verdict() == verdict.Holds; err != nil || known != (want == nil) {
				t.Errorf("to look for %q alone: %s, %v", hidden, result.Verdict(), err)
			}
		})
	}
}

// The set is large enough, and has each anomaly.
func TestTheSetIsWhole(t *testing.T) {
	broken, right, names := variants.Broken(), variants.Right(), map[string]bool{}
	shown := map[explore.Anomaly]bool{}
	for _, v := range slices.Concat(broken, right, variants.Unruly()) {
		if names[v.Name] {
			t.Errorf("%s is there twice", v.Name)
		}
		names[v.Name] = true
		shown[v.Shows] = true
	}
	for _, a := range explore.Anomalies() {
		if !shown[a] {
			t.Errorf("no variant shows %s", a)
		}
	}
	if len(broken) < 40 || len(right) < 12 {
		t.Errorf("%d broken and %d right; want 40 and 12", len(broken), len(right))
	}
	t.Logf("%d broken, %d right", len(broken), len(right))
}

func judged(t *testing.T, all []variants.Variant) {
	for _, v := range all {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			enough := bounds()
			if v.Gap.Today == string(verdict.Unknown) {
				enough.Schedules = 300 // nor would more of them help
			}
			if v.Shows == "" && !suite.Long {
				enough.Schedules = min(enough.Schedules, 150) // the shortest; all of them are in the long suite
			}
			if testing.Short() { // the first ones have all the goroutines that there are, and the race detector makes each slow
				enough.Schedules = 30
			}
			said, result := answer(t.Context(), v, enough)
			t.Logf("%s: %s after %d schedules in %.2f s: %s", v.Name, said, result.Schedules, result.Seconds, schedule(result))
			for _, found := range result.Found {
				replayed(t, v, result.Scenario, found)
			}
			if result.Bound() != "" && len(result.Found) == 0 && v.Gap.Today == "" && (testing.Short() || v.Shows == "" && !suite.Long) {
				return
			}
			switch {
			case v.Gap.Today == "" && !fits(v, said):
				t.Errorf("%s; want %s in %d steps", said, v.Shows, v.Steps)
			case v.Gap.Today != "" && fits(v, said):
				t.Errorf("%s, as it should be: the gap is closed, remove it", said)
			case v.Gap.Today != "" && said != v.Gap.Today:
				t.Errorf("%s; the gap says that today it is %s", said, v.Gap.Today)
			}
		})
	}
}

// replayed sees that a counterexample shows its anomaly in its last step.
func replayed(t *testing.T, v variants.Variant, in explore.Scenario, found explore.Counterexample) {
	t.Helper()
	again, err := explore.Replay(v.Lock, in, found.Schedule)
	shows := func(s explore.Shown) bool { return s.Anomaly == found.Anomaly && s.Step == found.Length }
	if err != nil || !slices.ContainsFunc(again.Shown, shows) {
		t.Errorf("replayed: %v, %+v; want %s in the last step", err, again.Shown, found.Anomaly)
	}
}

func schedule(result explore.Result) string {
	if len(result.Found) == 0 {
		return result.Bound()
	}
	return result.Found[0].Schedule
}
