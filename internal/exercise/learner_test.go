package exercise_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/internal/exercise"
	"lockstep/internal/language"
	"lockstep/internal/test/suite"
	"lockstep/internal/verdict"
)

// patience is the longest time that a test waits for output.
const patience = 2 * time.Minute

// lockedBuffer is a buffer that can be read while it is written.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(text)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// newLearner returns a learner of this module's exercises with progress of its own, and the learner's output.
func newLearner(t *testing.T, in language.Language) (exercise.Learner, *lockedBuffer) {
	t.Helper()
	root, err := exercise.FindRoot(".")
	if err != nil {
		t.Fatal(err)
	}
	people := &lockedBuffer{}
	return exercise.Learner{
		Checker: exercise.Checker{Root: root}, Store: exercise.ProgressIn(t.TempDir()), In: in, People: people, Typed: "go run . check",
	}, people
}

// A check shows the schedule in words, and the list shows the result.
func TestCheckShowsSchedule(t *testing.T) {
	d, people := newLearner(t, language.English)
	e, err := exercise.Find("01")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Store.Update(func(p *exercise.Progress) { p.Done[e.ID()] = true }); err != nil {
		t.Fatal(err)
	}
	outcome, err := d.Check(t.Context(), e)
	if err != nil || outcome.State != verdict.NotYet {
		t.Fatalf("%+v, %v", outcome, err)
	}
	for _, want := range []string{
		"Not yet", "3 steps", "left-behind", "--faults crash=1", "SET distributedLock A NX", "A:SET", "check 01-expiry --hint",
	} {
		if !strings.Contains(people.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, people)
		}
	}
	if p, err := d.Store.Load(); err != nil || p.Done[e.ID()] {
		t.Errorf("what no longer holds is still done: %+v, %v", p, err)
	}
}

// The sentence about starvation contains no flag.
func TestStarvationIsShownWithoutFlag(t *testing.T) {
	suite.LongOnly(t, "TestCheckShowsSchedule checks one")
	d, people := newLearner(t, language.English)
	e, err := exercise.Find("15")
	if err != nil {
		t.Fatal(err)
	}
	if outcome, err := d.Check(t.Context(), e); err != nil || outcome.State != verdict.NotYet {
		t.Fatalf("%+v, %v", outcome, err)
	}
	text := people.String()
	if !strings.Contains(text, "starved: a sale is overtaken more than once") || strings.Contains(text, "--overtakes") {
		t.Errorf("%s", text)
	}
}

// If progress cannot be written, the check still shows its verdict and returns its exit code. With --watch it ends, because it could never
// advance.
func TestCheckWithUnwritableProgress(t *testing.T) {
	e, err := exercise.Find("01")
	if err != nil {
		t.Fatal(err)
	}
	for in, says := range map[language.Language][2]string{
		language.English: {"Not yet", "whether the exercise is done was not saved: open "},
		language.Chinese: {"还没有完成", "没有记下这一题是否完成：open "},
	} {
		t.Run(string(in), func(t *testing.T) {
			if in == language.Chinese {
				suite.LongOnly(t, "English, because each check takes long")
			}
			d, people := newLearner(t, in)
			d.Store = exercise.ProgressIn(filepath.Join(t.TempDir(), "gone"))
			outcome, err := d.Check(t.Context(), e)
			var forgotten exercise.ForgottenError
			if !errors.As(err, &forgotten) || outcome.State.ExitCode() != 1 {
				t.Fatalf("%v, %v; want not yet, and that it is forgotten", outcome.State, err)
			}
			if !strings.Contains(people.String(), says[0]) || !strings.HasPrefix(err.Error(), says[1]) {
				t.Errorf("%s\n%v; want %q", people, err, says)
			}
			if err := d.Watch(t.Context(), e); err == nil {
				t.Error("it watches on, and cannot remember what is done")
			}
		})
	}
}

// An invalid progress file changes neither the verdict nor the exit code, and is not overwritten. All hints are shown at once, and no next
// exercise is suggested.
func TestCheckWithInvalidProgressFile(t *testing.T) {
	e, err := exercise.Find("01")
	if err != nil {
		t.Fatal(err)
	}
	for _, garbage := range []string{"not JSON", `{"done":7}`, `{"of a newer one":1}`, "\x00"} {
		t.Run(fmt.Sprintf("%q", garbage), func(t *testing.T) {
			d, people := newLearner(t, language.English)
			dir := t.TempDir()
			d.Store = exercise.ProgressIn(dir)
			file := filepath.Join(dir, exercise.ProgressFile)
			if err := os.WriteFile(file, []byte(garbage), 0o600); err != nil {
				t.Fatal(err)
			}
			var forgotten exercise.ForgottenError
			if err := d.Hint(e); !errors.As(err, &forgotten) || !errors.Is(err, exercise.ErrUnreadable) ||
				!strings.Contains(people.String(), "Hint 3 of 3") {
				t.Errorf("got %v\n%s", err, people)
			}
			if garbage == "not JSON" { // one is enough, because each check takes long
				d.Checker.Overlay = map[string]string{e.Dir() + "/lock.go": filepath.Join(d.Checker.Root, e.Dir(), "solution", "lock.go")}
				outcome, err := d.Check(t.Context(), e)
				if !errors.As(err, &forgotten) || !errors.Is(err, exercise.ErrUnreadable) || outcome.State.ExitCode() != 0 {
					t.Errorf("%v, %v; want done, and that it is forgotten", outcome.State, err)
				}
				if text := people.String(); !strings.Contains(text, "Done. ") || strings.Contains(text, "Next: ") {
					t.Errorf("%s", text)
				}
			}
			if text, err := os.ReadFile(file); err != nil || string(text) != garbage {
				t.Errorf("it was written over: %q, %v", text, err)
			}
		})
	}
}

// If progress cannot be written, the number of earlier requests is unknown, so all hints and the solution are shown at once.
func TestAllHelpIsShownWithUnwritableProgress(t *testing.T) {
	e, err := exercise.Find("01")
	if err != nil {
		t.Fatal(err)
	}
	d, people := newLearner(t, language.English)
	d.Store = exercise.ProgressIn(filepath.Join(t.TempDir(), "gone"))
	var forgotten exercise.ForgottenError
	if err := d.Hint(e); !errors.As(err, &forgotten) || !strings.Contains(people.String(), "Hint 3 of 3") {
		t.Errorf("%v\n%s", err, people)
	}
	if err := d.Solution(e); !errors.As(err, &forgotten) || !strings.Contains(people.String(), "// Cure: ") {
		t.Errorf("%v\n%s", err, people)
	}
}

// With --watch, each save checks the exercise again, and then the next one.
func TestWatchChecksAfterEachSave(t *testing.T) {
	suite.LongOnly(t, "TestCheckShowsSchedule checks once")
	d, people := newLearner(t, language.Chinese)
	root := d.Checker.Root
	watched := filepath.Join(root, "exercises", "01-expiry", "touched_by_a_test.go")
	t.Cleanup(func() { _ = os.Remove(watched) })
	edited := filepath.Join(t.TempDir(), "lock.go")
	save := func(name string) {
		text, err := os.ReadFile(filepath.Join(root, "exercises", "01-expiry", name))
		if err == nil {
			err = os.WriteFile(edited, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	save("lock.go")
	e, err := exercise.Find("01")
	if err != nil {
		t.Fatal(err)
	}
	d.Checker.Overlay = map[string]string{"exercises/01-expiry/lock.go": edited}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Watch(ctx, e) }()
	awaitOutput(t, people, "练习 01-expiry", "就会再次检查")
	save("solution/lock.go")
	if err := os.WriteFile(watched, []byte("package expiry\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	awaitOutput(t, people, "完成。", "练习 02-foreign-delete", "foreign-release")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// awaitOutput waits until the output contains all these texts.
func awaitOutput(t *testing.T, people *lockedBuffer, all ...string) {
	t.Helper()
	for _, want := range all {
		for deadline := time.Now().Add(patience); !strings.Contains(people.String(), want); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("after %v the output does not contain %q:\n%s", patience, want, people)
			}
		}
	}
}
