package lab_test

import (
	"errors"
	"strings"
	"testing"

	"lockstep/internal/lock/evolution"
	"lockstep/internal/stage/lab"
)

// Each lab says of each strategy what it expects, and why; it shows a step that breaks and one that holds.
func TestEveryLabIsWhole(t *testing.T) {
	known, seen := map[string]bool{}, map[string]bool{}
	for _, name := range evolution.Names() {
		known[name] = true
	}
	for _, l := range lab.All() {
		if l.Claim == "" || l.Cure == "" || l.Fault == "" || l.Hit == nil || l.Scenario == nil || len(l.Signs) == 0 || seen[l.Name] {
			t.Errorf("%s is not whole, or there are two", l.Name)
		}
		seen[l.Name] = true
		times := map[string]int{}
		for _, e := range l.Expected {
			for name := range strings.FieldsSeq(e.Locks) {
				times[name]++
				if !known[name] || e.Why == "" {
					t.Errorf("%s expects something of %s: %+v", l.Name, name, e)
				}
			}
		}
		for name := range known {
			if times[name] != 1 {
				t.Errorf("%s says %d times what it expects of %s", l.Name, times[name], name)
			}
		}
		if shows, cured := l.Expects(l.Shows), l.Expects(l.Cured); l.Shows != "" && shows.Observed != lab.Broken || cured.Observed != lab.Holds {
			t.Errorf("%s shows %s, which is %s, and its cure %s, which %s", l.Name, l.Shows, shows.Observed, l.Cured, cured.Observed)
		}
	}
}

func TestExitCode(t *testing.T) {
	good := lab.Result{Observed: lab.Broken, Expected: lab.Broken}
	bad := lab.Result{Observed: lab.Holds, Expected: lab.Broken}
	unknown := lab.Result{Observed: lab.Unknown, Expected: lab.Broken}
	for want, results := range map[int][]lab.Result{0: {good, good}, 1: {unknown, bad, good}, 2: {good, unknown}} {
		if code := lab.ExitCode(results); code != want {
			t.Errorf("%v: exit code %d; want %d", results, code, want)
		}
	}
}

func TestALabIsNotForEveryLock(t *testing.T) {
	if _, err := lab.Find("foreign-dilate"); !errors.Is(err, lab.ErrUnknown) {
		t.Errorf("foreign-dilate: %v", err)
	}
	l, err := lab.Find("foreign-delete")
	if err != nil {
		t.Fatal(err)
	}
	for lock, want := range map[string]error{"v0": lab.ErrNotFor, "v11": evolution.ErrUnknown, "v2": nil} {
		if err := l.Check(lock); !errors.Is(err, want) {
			t.Errorf("%s: %v; want %v", lock, err, want)
		}
	}
}
