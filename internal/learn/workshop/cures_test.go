package workshop_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lockstep/internal/learn/workshop"
	"lockstep/internal/lock/verdict"
	"lockstep/internal/test/suite"
)

// cure is what a learner may make of an exercise: lock.go, or its solution, with some lines replaced.
type cure struct {
	id, name   string // of its package; and what it does
	of         workshop.Exercise
	base       string   // the file that is changed
	shows      string   // the anomaly that a wrong one leaves, or the reason why nothing can be said; "": it is right
	looks      []string // the one that refuses it, as flags; none: it is not said which
	old, lines []string // pieces, and what takes their place
}

// heading is the first line of a cure in testdata/cures: right or wrong, and in what way; what it is made of; which look refuses it,
// so that no other is explored; and what it does.
var heading = regexp.MustCompile(`^(right|wrong ([a-z-]+))(, from the solution)?(, in "(.*)")?: (.+)$`)

// curesOf reads those of an exercise. After its heading, a cure has lines that begin with - or +: what goes, and what comes in its place.
// What goes has to be in the file once. An empty line ends a piece.
func curesOf(t *testing.T, e workshop.Exercise) (all []cure) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "cures", e.ID()+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	piece := true // another one begins
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if is := heading.FindStringSubmatch(line); is != nil {
			c := cure{id: fmt.Sprintf("e%02dc%d", e.Number, len(all)), name: is[6], of: e, base: e.Dir() + "/lock.go", shows: is[2]}
			if is[4] != "" {
				c.looks = []string{is[5]}
			}
			if is[3] != "" {
				c.base = e.Dir() + "/solution/lock.go"
			}
			all, piece = append(all, c), true
			continue
		}
		if len(all) == 0 || line != "" && line[0] != '-' && line[0] != '+' {
			t.Fatalf("%s: what is %q?", e.ID(), line)
		}
		c := &all[len(all)-1]
		switch {
		case line == "":
			piece = true
		case line[0] == '-' && piece:
			c.old, c.lines, piece = append(c.old, line[1:]), append(c.lines, ""), false
		case line[0] == '-':
			c.old[len(c.old)-1] += "\n" + line[1:]
		default:
			c.lines[len(c.lines)-1] += line[1:] + "\n"
		}
	}
	return all
}

// source is the cure's code.
func (c cure) source(t *testing.T) string {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(c.base)))
	if err != nil {
		t.Fatal(err)
	}
	text := string(file)
	for i, old := range c.old {
		if strings.Count(text, old+"\n") != 1 {
			t.Fatalf("%s, %s: %s has not once:\n%s", c.of.ID(), c.name, c.base, old)
		}
		text = strings.Replace(text, old+"\n", c.lines[i], 1)
	}
	return text
}

// explored builds one program of all these cures, and gives what the check says of each.
func explored(t *testing.T, cures []cure) (outcomes []workshop.Outcome) {
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
		replace[filepath.Join(module, "exercises", "cures", filepath.FromSlash(file))] = with
	}
	imports, calls := "", ""
	for _, c := range cures {
		put(c.id+"/lock.go", c.source(t))
		imports += fmt.Sprintf("\t%s \"lockstep/exercises/cures/%s\"\n", c.id, c.id)
		calls += fmt.Sprintf("\tsay(%q, %#v, %s.Strategy())\n", c.of.ID(), c.looks, c.id)
	}
	put("main.go", fmt.Sprintf(`package main

import (
	"context"
	"encoding/json"
	"os"
	"slices"

%s	"lockstep/internal/language"
	"lockstep/internal/learn/workshop"
	"lockstep/internal/lock/strategy"
)

func say(exercise string, looks []string, s strategy.Strategy) {
	e, err := workshop.Find(exercise)
	if err != nil {
		panic(err)
	}
	e.Looks = slices.DeleteFunc(e.Looks, func(l workshop.Look) bool {
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
		var o workshop.Outcome
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		outcomes = append(outcomes, o)
	}
	return outcomes
}

// The check refuses each wrong cure for its reason, and lets each right one pass.
func TestChecksJudgeCures(t *testing.T) {
	var cures []cure
	for _, e := range workshop.All() {
		all := curesOf(t, e)
		right := 1 // the solution
		for _, c := range all {
			if c.shows == "" {
				right++
			}
		}
		if wrong := len(all) + 1 - right; wrong < fewestWrong || right < fewestRight {
			t.Errorf("%s has %d wrong cures and %d right ones; want %d and %d", e.ID(), wrong, right, fewestWrong, fewestRight)
		}
		if suite.Long || e.Number == 1 { // the others in the long suite
			cures = append(cures, all...)
		}
	}
	outcomes := explored(t, cures)
	if len(outcomes) != len(cures) {
		t.Fatalf("%d outcomes of %d cures", len(outcomes), len(cures))
	}
	for i, c := range cures {
		o := outcomes[i]
		passes, refused := o.State == verdict.Done, o.State == verdict.NotYet && o.Anomaly == c.shows
		if c.shows == workshop.OtherTrouble {
			refused = o.State == verdict.Failed && o.Reason == c.shows
		}
		if c.shows == "" && !passes || c.shows != "" && !refused {
			t.Errorf("%s, %s: %s, %s/%d in %q: %s; want %q\n%s",
				c.of.ID(), c.name, o.State, o.Anomaly, o.Length, o.Scenario, o.Says, c.shows, o.Diagram)
		}
		t.Logf("%s, %s: %s %s/%d in %q, %.1f s", c.of.ID(), c.name, o.State, o.Anomaly, o.Length, o.Scenario, o.Seconds)
	}
}

// How many cures an exercise has at least.
const (
	fewestWrong = 5
	fewestRight = 3
)
