package variants_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/test/suite"
	"lockstep/internal/test/variants"
	"lockstep/internal/verdict"
)

// bounds are enough for each variant whose verdict is known.
func bounds() explore.Bounds {
	return explore.Bounds{Schedules: 10_000, Memory: 1 << 30, Workers: 1}
}

// Each lock is judged as it should be. A counterexample shows its anomaly in its last step, when it is replayed.
func TestVariantsAreJudgedRightly(t *testing.T) {
	for _, v := range variants.All() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			enough := bounds()
			if v.Steps == 0 && !suite.Long {
				enough.Schedules = 400 // all of them are in the long suite
			}
			if v.Unknown == "schedules" {
				enough.Schedules = 500 // nor would more of them help
			}
			if testing.Short() {
				enough.Schedules = 30 // the race detector makes each slow, and the first have all the goroutines that there are
			}
			result, err := explore.Explore(t.Context(), v.Lock, v.Scenario, goal(v), enough)
			t.Logf("%d schedules in %.2f s: %s, %v", result.Schedules, result.Seconds, answer(result), err)
			for _, e := range result.Found {
				again, failed := explore.Replay(v.Lock, v.Scenario, e.Schedule())
				shows := func(s explore.AnomalyHit) bool { return s.Anomaly == e.Anomaly() && s.Step == e.Length() }
				if failed != nil || !slices.ContainsFunc(again.Hits, shows) {
					t.Errorf("replayed: %v, %+v; want %s in the last step", failed, again.Hits, e.Anomaly())
				}
			}
			if err == nil && result.Bound() != "" && len(result.Found) == 0 && !suite.Long && (v.Steps == 0 || testing.Short()) {
				return
			}
			if wrong := judge(v, result, err); wrong != "" {
				t.Error(wrong)
			}
		})
	}
}

// goal looks for all that there is, unless one anomaly is to be found.
func goal(v variants.Variant) explore.Goal {
	goal := explore.Goal{All: v.Steps == 0}
	if v.Anomaly != "" {
		goal.Anomalies = []explore.Anomaly{v.Anomaly}
	}
	return goal
}

// judge says what is wrong with an answer; "" if nothing is.
func judge(v variants.Variant, result explore.Result, err error) (wrong string) {
	switch {
	case v.Refused != nil && (!errors.Is(err, v.Refused) || !strings.Contains(err.Error(), ".go:")):
		return fmt.Sprintf("%s, %v; want it refused with a line: %v", answer(result), err, v.Refused)
	case v.Refused != nil:
		return ""
	case err != nil:
		return err.Error()
	case v.Steps > 0 && (len(result.Found) == 0 || result.Found[0].Length() != v.Steps):
		return fmt.Sprintf("%s; want %s in %d steps", answer(result), v.Anomaly, v.Steps)
	case v.Steps > 0:
		return ""
	}
	want := verdict.Holds
	if v.Unknown != "" || v.Anomaly != "" && len(v.Unjudged) > 0 {
		want = verdict.Unknown
	}
	if result.Verdict() != want || !strings.Contains(result.Reservations(), v.Unknown) || !slices.Equal(result.Unjudged(), v.Unjudged) {
		return fmt.Sprintf("%s; want %s %s, but for %q", answer(result), want, v.Unknown, v.Unjudged)
	}
	return ""
}

// answer says in short what the explorer has found.
func answer(result explore.Result) string {
	all := []string{string(result.Verdict())}
	for _, e := range result.Found {
		all = append(all, fmt.Sprintf("%s in %d steps (%s)", e.Anomaly(), e.Length(), e.Schedule()))
	}
	return strings.Join(append(all, result.Omissions()...), ", ")
}

// The set has each anomaly, and each name once.
func TestVariantsCoverEachAnomaly(t *testing.T) {
	shown, names := map[explore.Anomaly]bool{}, map[string]bool{}
	all := append(variants.All(), variants.Unruly()...)
	for _, v := range all {
		if names[v.Name] {
			t.Errorf("%s is there twice", v.Name)
		}
		names[v.Name] = true
		shown[v.Anomaly] = shown[v.Anomaly] || v.Steps > 0
	}
	for _, a := range explore.Anomalies() {
		if !shown[a] {
			t.Errorf("no variant shows %s", a)
		}
	}
	if len(all) < 60 {
		t.Errorf("%d variants; want 60", len(all))
	}
	t.Logf("%d variants", len(all))
}

// A cut neither hides what a lock does that remembers something, nor makes it longer.
func TestTheCutsHideNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it explores what TestVariantsAreJudgedRightly begins to explore")
	}
	few := 3 // steps
	if suite.Long {
		few = 5 // so many can be explored without any cut
	}
	for _, v := range variants.All() {
		if v.Steps == 0 || v.Steps > few {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			every := bounds()
			every.EveryState, every.EverySymmetry = true, true
			result, err := explore.Explore(t.Context(), v.Lock, v.Scenario, goal(v), every)
			if wrong := judge(v, result, err); wrong != "" {
				t.Error(wrong)
			}
		})
	}
}

// unrulyName names the variant that the process of TestUnrulyAlone is for.
const unrulyName = "LOCKSTEP_UNRULY"

// Each unruly lock runs in a process of its own: it may leave goroutines.
func TestUnrulyLocksAreRefused(t *testing.T) {
	for _, v := range variants.Unruly() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestUnrulyAlone$", "-test.v")
			command.Env = append(os.Environ(), unrulyName+"="+v.Name)
			output, _ := command.CombinedOutput() // it fails for the goroutines that are left
			said := regexp.MustCompile(`(?s)<<(.*)>>`).FindSubmatch(output)
			if said == nil || string(said[1]) != "" {
				t.Errorf("%s", output)
			}
		})
	}
}

// TestUnrulyAlone is run by TestUnrulyLocksAreRefused, in a process of its own.
func TestUnrulyAlone(t *testing.T) {
	all := variants.Unruly()
	i := slices.IndexFunc(all, func(v variants.Variant) bool { return v.Name == os.Getenv(unrulyName) })
	if i < 0 {
		t.Skip("TestUnrulyLocksAreRefused runs it")
	}
	few := bounds()
	few.Schedules, few.Patience = 1000, 100*time.Millisecond
	result, err := explore.Explore(t.Context(), all[i].Lock, all[i].Scenario, goal(all[i]), few)
	fmt.Printf("<<%s>>\n", judge(all[i], result, err))
}
