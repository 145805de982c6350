package oracle

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/internal/exercise"
	"lockstep/internal/test/suite"
	"lockstep/internal/verdict"
)

// How long the check of an exercise as it is handed out may take, beside its compilation, and that of its solution.
const (
	slowestStart    = 8 // seconds
	slowestSolution = 24
)

// anything is what an attempt shows if it does not matter what.
const anything = "anything"

// attempt is what a check is asked about: an exercise as it is handed out, its solution, or a cure of it.
type attempt struct {
	of      exercise.Exercise
	name    string
	in      string   // directory of its package, below exercises
	looks   []string // that are explored, as flags; nil: all
	shows   string   // anomaly that a wrong one leaves, or anything, or the reason why nothing can be said; "": it is right
	slowest float64  // seconds that its check may take; 0: not bounded
}

// exercises gives what a check says of each exercise as it is handed out, of its solution, and of its cures.
func exercises(t *testing.T) (lines []string) {
	var all []attempt
	sources := map[string]string{} // of cures, by directory
	for _, e := range exercise.All() {
		cures := curesOf(t, e)
		if suite.Long || e.Number <= 2 {
			all = append(all,
				attempt{of: e, name: e.ID() + ", as it is handed out", in: e.ID(), shows: anything, slowest: slowestStart},
				attempt{of: e, name: e.ID() + ", its solution", in: e.ID() + "/solution", slowest: slowestSolution})
		}
		if suite.Long || e.Number == 1 {
			for _, c := range cures {
				all = append(all, c.attempt)
				sources[c.in] = c.source(t)
			}
		}
	}
	outcomes := checked(t, all, sources)
	if len(outcomes) != len(all) {
		t.Fatalf("%d outcomes of %d attempts", len(outcomes), len(all))
	}
	for i, a := range all {
		o := outcomes[i]
		if !a.agrees(o) {
			t.Errorf("%s: %s: %s; want %q\n%s", a.name, said(o), o.Says, a.shows, o.Diagram)
		}
		if a.slowest > 0 && o.Seconds > a.slowest {
			t.Errorf("%s: it takes %.1f s", a.name, o.Seconds)
		}
		lines = append(lines, fmt.Sprintf("exercise %s: %s", a.name, said(o)))
	}
	return lines
}

// agrees reports whether an outcome does not speak against what is known of an attempt. Of a cure, it may be that nothing can be said.
func (a attempt) agrees(o exercise.Outcome) bool {
	switch o.State {
	case verdict.Done:
		return a.shows == ""
	case verdict.NotYet:
		return a.shows == anything && o.Anomaly != "" || a.shows == o.Anomaly && a.shows != ""
	default:
		return a.slowest == 0
	}
}

// said sums an outcome up.
func said(o exercise.Outcome) string {
	switch {
	case o.State == verdict.Done:
		return "done"
	case o.State == verdict.Failed:
		return fmt.Sprintf("cannot be said, %s in %q", o.Reason, o.Scenario)
	case o.Anomaly == "":
		return fmt.Sprintf("%s, %s in %q", o.State, o.Says, o.Scenario)
	default:
		return fmt.Sprintf("%s, %d in %q", o.Anomaly, o.Length, o.Scenario)
	}
}

// checked builds one program of all attempts, and gives what the check says of each.
func checked(t *testing.T, all []attempt, sources map[string]string) (outcomes []exercise.Outcome) {
	t.Helper()
	module, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	dir, replace := t.TempDir(), map[string]string{}
	put := func(file, text string) {
		with := filepath.Join(dir, strings.ReplaceAll(file, "/", "-"))
		if err := os.WriteFile(with, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(module, "exercises", filepath.FromSlash(file))] = with
	}
	imports, calls := "", ""
	for i, a := range all {
		if source, ok := sources[a.in]; ok {
			put(a.in+"/lock.go", source)
		}
		imports += fmt.Sprintf("\ta%d \"lockstep/exercises/%s\"\n", i, a.in)
		calls += fmt.Sprintf("\tsay(%q, %#v, a%d.Strategy())\n", a.of.ID(), a.looks, i)
	}
	put("cures/main.go", fmt.Sprintf(`package main

import (
	"context"
	"encoding/json"
	"os"
	"slices"

%s	"lockstep/internal/language"
	"lockstep/internal/exercise"
	"lockstep/internal/strategy"
)

func say(id string, looks []string, s strategy.Strategy) {
	e, err := exercise.Find(id)
	if err != nil {
		panic(err)
	}
	e.Explorations = slices.DeleteFunc(e.Explorations, func(l exercise.Exploration) bool {
		return looks != nil && !slices.Contains(looks, l.Scenario.String())
	})
	if err := json.NewEncoder(os.Stdout).Encode(e.Explore(context.Background(), s, language.English)); err != nil {
		panic(err)
	}
}

func main() {
%s}
`, imports, calls))
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	list, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "cures.exe")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	// of so many packages, to optimise costs more than it saves
	build := exec.CommandContext(t.Context(), "go",
		"build", "-buildvcs=false", "-ldflags=-s -w", "-gcflags=./exercises/cures/...=-N -l", "-overlay", list, "-o", binary, "./exercises/cures")
	build.Dir = module
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	printed, err := exec.CommandContext(t.Context(), binary).Output()
	if err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(string(printed)) {
		var o exercise.Outcome
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}
