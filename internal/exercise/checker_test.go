package exercise_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/anomaly"
	"lockstep/internal/exercise"
	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/test/suite"
	"lockstep/internal/verdict"
)

// newChecker returns a checker of this module's exercises.
func newChecker(t *testing.T) exercise.Checker {
	t.Helper()
	root, err := exercise.FindRoot(".")
	if err != nil {
		t.Fatal(err)
	}
	return exercise.Checker{Root: root}
}

func findExercise(t *testing.T, name string) exercise.Exercise {
	t.Helper()
	e, err := exercise.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// checkerOfEdit returns a checker that sees the exercise's lock.go with old replaced by edit.
func checkerOfEdit(t *testing.T, e exercise.Exercise, old, edit string) exercise.Checker {
	t.Helper()
	c := newChecker(t)
	file := e.Dir() + "/lock.go"
	text, err := os.ReadFile(filepath.Join(c.Root, file))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(text), old) != 1 {
		t.Fatalf("%s has %q not once", file, old)
	}
	with := filepath.Join(t.TempDir(), "lock.go")
	if err := os.WriteFile(with, []byte(strings.Replace(string(text), old, edit, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Overlay = map[string]string{file: with}
	return c
}

func TestCheckBuildsAndExplores(t *testing.T) {
	suite.LongOnly(t, "TestBrokenExerciseDoesNotAffectOthers builds and explores one")
	e := findExercise(t, "05")
	start, err := newChecker(t).Check(t.Context(), e, e.Dir(), language.English)
	if err != nil || start.State != verdict.NotYet || start.Anomaly != string(anomaly.TwoHolders) ||
		!strings.Contains(start.Diagram, "Redis") || len(strings.Fields(start.Schedule)) != start.Length {
		t.Errorf("as it is handed out: %+v, %v", start, err)
	}
	solution, err := newChecker(t).Check(t.Context(), e, e.Dir()+"/solution", language.English)
	if err != nil || solution.State != verdict.Done {
		t.Errorf("the solution: %+v, %v", solution, err)
	}
}

// For code that the explorer cannot run, the check names the reason within half a minute.
func TestCheckNamesReasonOfFailure(t *testing.T) {
	e := findExercise(t, "01")
	const line = "	case errors.Is(err, redis.Nil):\n"
	for _, c := range []struct {
		name, edit, reason, says string
		quick                    bool
	}{
		{"a mistake", "	case errors.Is(err, nothing):\n", exercise.NotCompiled, "undefined: nothing", true},
		{"a panic", line + "		panic(\"out of luck\")\n", exercise.Panicked, "out of luck", false},
		{"a panic in a goroutine", line + "		go panic(\"out of luck\")\n		select {}\n", exercise.Blind, "starts a goroutine of its own", false},
		{"a loop", line + "		for {\n		}\n", exercise.Blind, "", false},
		{"a goroutine", line + "		go l.client.Get(ctx, \"x\")\n", exercise.Blind, "", false},
		{"a sleep", line + "		select {}\n", exercise.Blind, "", false},
		{
			"a loop that polls", line + "		for l.client.Get(ctx, l.opts.Key).Err() == nil {\n" +
				"			_ = lock.Sleep(ctx, l.opts.Clock, l.opts.RetryInterval)\n		}\n		return nil, lock.ErrNotObtained\n",
			exercise.UndeclaredPoll, "lock.poll", false,
		},
		{"a command", line + "		l.client.BLPop(ctx, 0, \"x\")\n", exercise.BadCommand, "blpop", false},
		{"a key", line + "		l.client.Set(ctx, \"my-lock\", owner, 0)\n", exercise.BadKey, "my-lock is none of them", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !c.quick {
				suite.LongOnly(t, "the rows that are quick")
			}
			o, err := checkerOfEdit(t, e, line, c.edit).Check(t.Context(), e, e.Dir(), language.English)
			matches := strings.Contains(strings.ToLower(o.Says), c.says)
			if err != nil || o.State != verdict.Failed || o.Reason != c.reason || !matches || o.Seconds > 30 {
				t.Errorf("got %s, %s after %.0f s: %s, %v", o.State, o.Reason, o.Seconds, o.Says, err)
			}
		})
	}
}

// An exercise that does not compile does not keep others from being checked.
func TestBrokenExerciseDoesNotAffectOthers(t *testing.T) {
	broken := checkerOfEdit(t, findExercise(t, "02"), "package foreigndelete\n", "package foreigndelete\n\nfunc {\n")
	e := findExercise(t, "03")
	if o, err := broken.Check(t.Context(), e, e.Dir(), language.English); err != nil || o.State != verdict.NotYet {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestCheckNeedsModuleAndGo(t *testing.T) {
	if _, err := exercise.FindRoot(t.TempDir()); !errors.Is(err, exercise.ErrNoModule) {
		t.Errorf("outside the module: %v", err)
	}
	c, e := newChecker(t), findExercise(t, "nested")
	t.Setenv("PATH", "")
	if _, err := c.Check(t.Context(), e, e.Dir(), language.English); !errors.Is(err, exercise.ErrNoGo) {
		t.Errorf("without Go: %v", err)
	}
}

// Settings of the go command outside the module are ignored. If the go command itself fails, that is not reported as the learner's mistake.
func TestCheckIgnoresGoEnvironment(t *testing.T) {
	c, e := newChecker(t), findExercise(t, "01")
	work := filepath.Join(t.TempDir(), "go.work")
	if err := os.WriteFile(work, []byte("go 1.24\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOWORK", work)
	t.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -mod=vendor")
	t.Setenv("GOOS", "plan9")
	if o, err := c.Check(t.Context(), e, e.Dir(), language.English); err != nil || o.State != verdict.NotYet {
		t.Errorf("with foreign settings: %+v, %v", o, err)
	}
	t.Setenv("GOCACHE", os.DevNull)
	o, err := c.Check(t.Context(), e, e.Dir(), language.English)
	if err != nil || o.State != verdict.Failed || o.Reason != exercise.OtherTrouble || !strings.Contains(o.Says, "cache") {
		t.Errorf("without a cache: %+v, %v; want go's own words", o, err)
	}
}

func TestFindAcceptsNumberNameOrPath(t *testing.T) {
	for _, name := range []string{"5", "05", "05-nested", "nested", "exercises/05-nested", "./exercises/05-nested/", `exercises\05-nested`} {
		t.Run(name, func(t *testing.T) {
			if e, err := exercise.Find(name); err != nil || e.Number != 5 {
				t.Errorf("got %d, %v; want 5", e.Number, err)
			}
		})
	}
	for _, name := range []string{"", "0", "99", "05x", "nest", "-1"} {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			if e, err := exercise.Find(name); !errors.Is(err, exercise.ErrUnknown) {
				t.Errorf("got %d, %v; want %v", e.Number, err, exercise.ErrUnknown)
			}
		})
	}
}

// Each exercise has a unique name, texts in both languages, valid explorations, and a directory whose lock.go states its task.
func TestEachExerciseIsComplete(t *testing.T) {
	names := map[string]bool{}
	for i, e := range exercise.All() {
		if e.Number != i+1 || names[e.Name] || len(e.Explorations) == 0 {
			t.Errorf("%+v", e)
		}
		names[e.Name] = true
		for _, in := range language.All() {
			for _, text := range append(e.Hints, e.Title, e.Story, e.Claim) {
				if text.In(in) == "" {
					t.Errorf("%s has no text in %s", e.ID(), in)
				}
			}
		}
		text, err := os.ReadFile(filepath.Join(root, e.Dir(), "lock.go"))
		if err != nil || !strings.Contains(string(text), "go run . check "+e.ID()[:2]+"\n") ||
			!strings.Contains(strings.ReplaceAll(string(text), "\n// ", " "), "Task: "+e.Claim.In(language.English)+" 要求："+
				e.Claim.In(language.Chinese)) {
			t.Errorf("%s/lock.go does not say its task, or how it is checked: %v", e.Dir(), err)
		}
		for _, look := range e.Explorations {
			if err := look.Scenario.Check(); err != nil {
				t.Errorf("%s: %v", e.ID(), err)
			}
			for _, a := range look.Anomalies {
				if !slices.Contains(explore.Anomalies(), a) {
					t.Errorf("%s: there is no anomaly %s", e.ID(), a)
				}
			}
		}
	}
	if directories, err := filepath.Glob(root + "/exercises/[0-9]*"); err != nil || len(directories) != len(names) {
		t.Errorf("%d directories, %d exercises, %v", len(directories), len(names), err)
	}
}
