package lab_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"lockstep/internal/evolution"
	"lockstep/internal/lab"
	"lockstep/internal/language"
	"lockstep/internal/verdict"
)

// Each lab has one expectation of each strategy, with the reason, and shows a step that breaks and one that holds.
func TestLabsExpectEachStrategyOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range lab.All() {
		if seen[l.Name] {
			t.Errorf("there are two %s", l.Name)
		}
		seen[l.Name] = true
		if l.Anomaly == "" && (l.Hit == nil || l.Scenario == nil || len(l.Signs) == 0) {
			t.Errorf("%s is not whole", l.Name)
		}
		for _, name := range evolution.Names() {
			if n := timesExpected(l, name); n != 1 {
				t.Errorf("%s says %d times what it expects of %s", l.Name, n, name)
			}
		}
		for _, e := range l.Expected {
			for _, name := range e.Locks {
				if _, err := evolution.Find(name); err != nil {
					t.Errorf("%s expects something of %s: %v", l.Name, name, err)
				}
			}
		}
		if shows := l.Expects(l.Shows); l.Shows != "" && shows.Verdict != verdict.Broken {
			t.Errorf("%s shows %s, which is %s", l.Name, l.Shows, shows.Verdict)
		}
		if cured := l.Expects(l.Cured); l.Anomaly == "" && l.Cured != "" && cured.Verdict != verdict.Holds {
			t.Errorf("%s has the cure %s, which is %s", l.Name, l.Cured, cured.Verdict)
		}
	}
}

// timesExpected counts the expectations that a lab has of a lock.
func timesExpected(l lab.Lab, lock string) (n int) {
	all := l.Expected
	for i := range all {
		l.Expected = all[i : i+1]
		if slices.Equal(l.Expects(lock).Locks, all[i].Locks) {
			n++
		}
	}
	return n
}

// Every text of a lab is in both languages.
func TestLabsAreTranslated(t *testing.T) {
	for _, l := range lab.All() {
		texts := []language.Text{l.Claim}
		if l.Anomaly == "" {
			texts = append(texts, l.Title, l.Cure, l.Fault)
		}
		for _, e := range l.Expected {
			texts = append(texts, e.Why)
		}
		for _, text := range texts {
			isHan := func(r rune) bool { return unicode.Is(unicode.Han, r) }
			english, chinese := text.In(language.English), text.In(language.Chinese)
			if english == "" || strings.ContainsFunc(english, isHan) || !strings.ContainsFunc(chinese, isHan) {
				t.Errorf("%s says %q, and in Chinese %q", l.Name, english, chinese)
			}
		}
	}
}

// A range of steps covers the steps in it, an open range covers all later steps, and neither covers a lock that is no step.
func TestExpectationCoversItsRangeOfSteps(t *testing.T) {
	l := lab.Lab{Expected: []lab.Expectation{
		{Locks: append(lab.Steps(2, 4), "getset"), Verdict: verdict.Broken},
		{Locks: lab.StepsFrom(9), Verdict: verdict.Holds},
	}}
	for lock, want := range map[string]verdict.Verdict{
		"v1": verdict.NA, "v2": verdict.Broken, "v3": verdict.Broken, "v4": verdict.Broken, "v5": verdict.NA, "getset": verdict.Broken,
		"setex": verdict.NA, "v7": verdict.NA, "v9": verdict.Holds, "v11": verdict.Holds,
	} {
		t.Run(lock, func(t *testing.T) {
			if got := l.Expects(lock).Verdict; got != want {
				t.Errorf("got %s; want %s", got, want)
			}
		})
	}
}

func TestExitCode(t *testing.T) {
	good := lab.Result{Observed: verdict.Broken, Expected: verdict.Broken}
	bad := lab.Result{Observed: verdict.Holds, Expected: verdict.Broken}
	unknown := lab.Result{Observed: verdict.Unknown, Expected: verdict.Broken}
	for want, results := range map[int][]lab.Result{0: {good, good}, 1: {unknown, bad, good}, 2: {good, unknown}} {
		t.Run(fmt.Sprintf("exit code %d", want), func(t *testing.T) {
			if code := lab.ExitCode(results); code != want {
				t.Errorf("exit code %d of %v; want %d", code, results, want)
			}
		})
	}
}

func TestLabDoesNotApplyToEveryLock(t *testing.T) {
	if _, err := lab.Find("foreign-dilate"); !errors.Is(err, lab.ErrUnknown) {
		t.Errorf("foreign-dilate: %v", err)
	}
	l, err := lab.Find("foreign-delete")
	if err != nil {
		t.Fatal(err)
	}
	for lock, want := range map[string]error{"v0": lab.ErrNotFor, "v12": evolution.ErrUnknown, "v2": nil} {
		t.Run(lock, func(t *testing.T) {
			if err := l.Check(lock, language.English); !errors.Is(err, want) {
				t.Errorf("got %v; want %v", err, want)
			}
		})
	}
}
