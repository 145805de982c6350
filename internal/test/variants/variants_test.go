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

// bounds returns bounds that suffice for each variant whose verdict is known.
func bounds() explore.Bounds {
	return explore.Bounds{Schedules: 10_000, Memory: 1 << 30, Workers: 1}
}

// The explorer gives the expected answer about each variant. Replayed counterexamples show their anomaly in the last step.
func TestExplorerJudgesVariants(t *testing.T) {
	for _, v := range variants.All() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			enough := bounds()
			if v.Steps == 0 && !suite.Long {
				enough.Schedules = 400 // the long suite explores all
			}
			if v.Unknown == "schedules" {
				enough.Schedules = 500 // more would not help
			}
			if testing.Short() {
				enough.Schedules = 30 // the race detector is slow, and the first schedules run all goroutines
			}
			result, err := explore.Explore(t.Context(), v.Lock, v.Scenario, goalOf(v), enough)
			t.Logf("%d schedules in %.2f s: %s, %v", result.Schedules, result.Seconds, describeResult(result), err)
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
			if wrong := checkAnswer(v, result, err); wrong != "" {
				t.Error(wrong)
			}
		})
	}
}

// goalOf returns the goal of an exploration: all anomalies, or the expected one.
func goalOf(v variants.Variant) explore.Goal {
	goal := explore.Goal{All: v.Steps == 0}
	if v.Anomaly != "" {
		goal.Anomalies = []explore.Anomaly{v.Anomaly}
	}
	return goal
}

// checkAnswer describes what is wrong with an answer; empty if nothing is.
func checkAnswer(v variants.Variant, result explore.Result, err error) (wrong string) {
	switch {
	case v.Refused != nil && (!errors.Is(err, v.Refused) || !strings.Contains(err.Error(), ".go:")):
		return fmt.Sprintf("%s, %v; want it refused with a line: %v", describeResult(result), err, v.Refused)
	case v.Refused != nil:
		return ""
	case err != nil:
		return err.Error()
	case v.Steps > 0 && (len(result.Found) == 0 || result.Found[0].Length() != v.Steps):
		return fmt.Sprintf("%s; want %s in %d steps", describeResult(result), v.Anomaly, v.Steps)
	case v.Steps > 0:
		return ""
	}
	want := verdict.Holds
	if v.Unknown != "" || v.Anomaly != "" && len(v.Unjudged) > 0 {
		want = verdict.Unknown
	}
	if result.Verdict() != want || !strings.Contains(result.Caveats(), v.Unknown) || !slices.Equal(result.Unjudged(), v.Unjudged) {
		return fmt.Sprintf("%s; want %s %s, but for %q", describeResult(result), want, v.Unknown, v.Unjudged)
	}
	return ""
}

// describeResult summarizes what the explorer found.
func describeResult(result explore.Result) string {
	all := []string{string(result.Verdict())}
	for _, e := range result.Found {
		all = append(all, fmt.Sprintf("%s in %d steps (%s)", e.Anomaly(), e.Length(), e.Schedule()))
	}
	return strings.Join(append(all, result.Omissions()...), ", ")
}

// Every anomaly is shown by a variant, and names are unique.
func TestVariantsCoverEachAnomaly(t *testing.T) {
	shown, names := map[explore.Anomaly]bool{}, map[string]bool{}
	all := append(variants.All(), variants.Uncontrolled()...)
	for _, v := range all {
		if names[v.Name] {
			t.Errorf("two variants are called %s, want unique names", v.Name)
		}
		names[v.Name] = true
		shown[v.Anomaly] = shown[v.Anomaly] || v.Steps > 0
	}
	for _, a := range explore.Anomalies() {
		if !shown[a] {
			t.Errorf("no variant shows %s, want one for each anomaly", a)
		}
	}
	if len(all) < 60 {
		t.Errorf("%d variants, want at least 60", len(all))
	}
	t.Logf("%d variants", len(all))
}

// Without state hashing and symmetry reduction the explorer finds the same shortest counterexamples, also of locks with variables.
func TestExplorerJudgesVariantsWithoutCuts(t *testing.T) {
	if testing.Short() {
		t.Skip("TestExplorerJudgesVariants explores the same variants")
	}
	few := 3 // largest number of steps
	if suite.Long {
		few = 5 // more would take too long without the reductions
	}
	for _, v := range variants.All() {
		if v.Steps == 0 || v.Steps > few {
			continue
		}
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			every := bounds()
			every.EveryState, every.EverySymmetry = true, true
			result, err := explore.Explore(t.Context(), v.Lock, v.Scenario, goalOf(v), every)
			if wrong := checkAnswer(v, result, err); wrong != "" {
				t.Error(wrong)
			}
		})
	}
}

// uncontrolledName is the environment variable that names the variant for TestUncontrolledLockInChildProcess.
const uncontrolledName = "LOCKSTEP_UNRULY"

// Each of these locks is explored in a process of its own, because it may leave goroutines behind.
func TestUncontrolledLocksAreRefused(t *testing.T) {
	for _, v := range variants.Uncontrolled() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestUncontrolledLockInChildProcess$", "-test.v")
			command.Env = append(os.Environ(), uncontrolledName+"="+v.Name)
			output, _ := command.CombinedOutput() // goleak makes it fail, because goroutines are left
			said := regexp.MustCompile(`(?s)<<(.*)>>`).FindSubmatch(output)
			if said == nil || string(said[1]) != "" {
				t.Errorf("got output\n%s\nwant the lock refused", output)
			}
		})
	}
}

// TestUncontrolledLockInChildProcess is run by TestUncontrolledLocksAreRefused in a process of its own.
func TestUncontrolledLockInChildProcess(t *testing.T) {
	all := variants.Uncontrolled()
	i := slices.IndexFunc(all, func(v variants.Variant) bool { return v.Name == os.Getenv(uncontrolledName) })
	if i < 0 {
		t.Skip("TestUncontrolledLocksAreRefused runs it")
	}
	few := bounds()
	few.Schedules, few.StallTimeout = 1000, 100*time.Millisecond
	result, err := explore.Explore(t.Context(), all[i].Lock, all[i].Scenario, goalOf(all[i]), few)
	fmt.Printf("<<%s>>\n", checkAnswer(all[i], result, err))
}
