package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/learn/progress"
	"lockstep/internal/learn/workshop"
	"lockstep/internal/test/suite"
)

// class is a directory that looks like the module to a learner who asks for hints. Nothing can be built there.
func class(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module lockstep\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "exercises"), os.DirFS("../../exercises")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(dir, "exercises"))
	return dir
}

// typed runs check, and gives its exit code and standard output.
func typed(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out, people bytes.Buffer
	code := Run(t.Context(), append([]string{"check", "--lang", "en"}, args...), &out, &people)
	if code == exitTrouble {
		return code, people.String()
	}
	return code, out.String()
}

func TestHintsGrow(t *testing.T) {
	dir := class(t)
	e, err := workshop.Find("nested")
	if err != nil {
		t.Fatal(err)
	}
	for i := range workshop.HintsEach + 1 {
		code, out := typed(t, "05", "--hint")
		given := min(i+1, workshop.HintsEach)
		for j, hint := range e.Hints {
			if has := strings.Contains(out, hint.In(language.English)); code != exitOK || has != (j < given) {
				t.Errorf("asked %d times, hint %d is given: %t (exit code %d)", i+1, j+1, has, code)
			}
		}
	}
	if p, err := progress.In(dir).Load(); err != nil || p.Hints[e.ID()] != workshop.HintsEach {
		t.Errorf("what is remembered is %+v, %v", p, err)
	}
}

func TestTheSolutionIsShownWhenAskedTwiceOrDone(t *testing.T) {
	dir := class(t)
	if code, out := typed(t, "05", "--solution"); code != exitOK || strings.Contains(out, "package") {
		t.Errorf("asked once: exit code %d, %s", code, out)
	}
	if code, out := typed(t, "05", "--solution"); code != exitOK || !strings.Contains(out, "// Cure: ") {
		t.Errorf("asked twice: exit code %d, %s", code, out)
	}
	if err := progress.In(dir).Update(func(p *progress.Progress) { p.Done["06-lost-reply"] = true }); err != nil {
		t.Fatal(err)
	}
	code, out := typed(t, "06", "--solution", "--json")
	if code != exitOK || !strings.Contains(out, "Cure: ") || !strings.Contains(out, `"shown": true`) {
		t.Errorf("done: exit code %d, %s", code, out)
	}
}

func TestTheListShowsWhatIsDone(t *testing.T) {
	dir := class(t)
	if err := progress.In(dir).Update(func(p *progress.Progress) { p.Done["01-expiry"] = true }); err != nil {
		t.Fatal(err)
	}
	code, out := typed(t)
	for _, want := range []string{"✓ 01-expiry", "1 of 14 done", "Next: 02-foreign-delete"} {
		if code != exitOK || !strings.Contains(out, want) {
			t.Errorf("exit code %d, and %q is not in:\n%s", code, want, out)
		}
	}
	var all []struct{ Exercise, State string }
	_, out = typed(t, "--json")
	if json.Unmarshal([]byte(out), &all) != nil || len(all) != 14 || all[0].State != "done" || all[1].State != "not yet" {
		t.Errorf("as JSON:\n%s", out)
	}
	if _, out := typed(t, "--hint", "--json"); !strings.Contains(out, `"exercise": "02-foreign-delete"`) {
		t.Errorf("a hint without a name is for another exercise:\n%s", out)
	}
}

func TestCheckSaysWhatIsWrong(t *testing.T) {
	dir := class(t)
	for says, args := range map[string][]string{
		"did you mean nested":   {"nestd"},
		"there are 01 to 14":    {"15"},
		"choose one":            {"05", "--hint", "--solution"},
		"leave out":             {"--watch", "--json"},
		"takes no settings":     {"05", "--lock.ttl", "1s"},
		progress.FileName + ":": {"05"},
	} {
		if strings.HasPrefix(says, progress.FileName) {
			if err := os.WriteFile(filepath.Join(dir, progress.FileName), []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if code, out := typed(t, args...); code != exitTrouble || !strings.Contains(out, says) {
			t.Errorf("%v: exit code %d, %s; want %q", args, code, out, says)
		}
		_ = os.Remove(filepath.Join(dir, progress.FileName)) // of most of them there is none
	}
	t.Chdir(t.TempDir())
	if code, out := typed(t, "05"); code != exitTrouble || !strings.Contains(out, "clone") {
		t.Errorf("outside: exit code %d, %s", code, out)
	}
}

// at gives a learner's desk with this module's exercises, and a progress of its own.
func at(t *testing.T, in language.Language) (desk, *lockedBuffer) {
	t.Helper()
	checker, err := workshop.NewChecker(".")
	if err != nil {
		t.Fatal(err)
	}
	people := &lockedBuffer{}
	return desk{
		checkFlags: checkFlags{in: in}, checker: checker, store: progress.In(t.TempDir()), words: checkWordsIn(in),
		people: people, out: people, typed: "go run . check",
	}, people
}

// A check shows the schedule in words, and the list knows what it found.
func TestCheckShowsTheSchedule(t *testing.T) {
	d, people := at(t, language.English)
	e, err := workshop.Find("01")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.store.Update(func(p *progress.Progress) { p.Done[e.ID()] = true }); err != nil {
		t.Fatal(err)
	}
	outcome, err := d.check(t.Context(), e)
	if err != nil || outcome.State != workshop.NotYet {
		t.Fatalf("%+v, %v", outcome, err)
	}
	for _, want := range []string{
		"Not yet", "3 steps", "left-behind", "--faults crash=1", "SET distributedLock A NX", "A:SET", "check 01-expiry --hint",
	} {
		if !strings.Contains(people.String(), want) {
			t.Errorf("it does not say %q:\n%s", want, people)
		}
	}
	if p, err := d.store.Load(); err != nil || p.Done[e.ID()] {
		t.Errorf("what no longer holds is still done: %+v, %v", p, err)
	}
}

// Where nothing can be written, the verdict comes all the same, and makes the exit code; --watch ends, as it would never get on.
func TestCheckWhereNothingCanBeWritten(t *testing.T) {
	e, err := workshop.Find("01")
	if err != nil {
		t.Fatal(err)
	}
	for in, says := range map[language.Language][2]string{
		language.English: {"Not yet", "check: whether the exercise is done was not written down: open "},
		language.Chinese: {"还没有完成", "check: 没有记下这一题是否完成：open "},
	} {
		if in == language.Chinese && !suite.Long {
			continue // in English alone: each checks an exercise
		}
		d, people := at(t, in)
		d.store = progress.In(filepath.Join(t.TempDir(), "gone"))
		cmd, stderr := newCheck(), &bytes.Buffer{}
		cmd.SetContext(t.Context())
		cmd.SetErr(stderr)
		var code exitCode
		if err := d.serve(cmd, []string{e.Name}); !errors.As(err, &code) || int(code) != exitBroken {
			t.Errorf("%v; want exit code %d", err, exitBroken)
		}
		if !strings.Contains(people.String(), says[0]) || !strings.HasPrefix(stderr.String(), says[1]) {
			t.Errorf("%s\n%s; want %q", people, stderr, says)
		}
		if err := d.watchFrom(t.Context(), e); err == nil {
			t.Error("it watches on, and cannot remember what is done")
		}
	}
}

// With --watch, a save is enough: the exercise is checked again, and the next one after it.
func TestWatchGoesOnAtEachSave(t *testing.T) {
	suite.LongOnly(t, "TestCheckShowsTheSchedule checks once")
	d, people := at(t, language.Chinese)
	root := d.checker.Root
	watched := filepath.Join(root, "exercises", "01-expiry", "touched_by_a_test.go")
	t.Cleanup(func() { _ = os.Remove(watched) })
	edited := filepath.Join(t.TempDir(), "lock.go")
	save := func(of string) {
		text, err := os.ReadFile(filepath.Join(root, "exercises", "01-expiry", of))
		if err == nil {
			err = os.WriteFile(edited, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	save("lock.go")
	e, err := workshop.Find("01")
	if err != nil {
		t.Fatal(err)
	}
	d.checker.Overlay = map[string]string{"exercises/01-expiry/lock.go": edited}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.watchFrom(ctx, e) }()
	sees(t, people, "练习 01-expiry", "就会再次检查")
	save("solution/lock.go")
	if err := os.WriteFile(watched, []byte("package expiry\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sees(t, people, "完成。", "练习 02-foreign-delete", "foreign-release")
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// sees waits until people see all of these.
func sees(t *testing.T, people *lockedBuffer, all ...string) {
	t.Helper()
	for _, want := range all {
		eventually(t, "seen: "+want, func() bool { return strings.Contains(people.String(), want) })
	}
}

// The real command checks what stands in the files, at any place below go.mod.
func TestCheckAsTyped(t *testing.T) {
	suite.LongOnly(t, "TestCheckShowsTheSchedule checks without the command line")
	root, err := workshop.FindRoot(".")
	if err != nil {
		t.Fatal(err)
	}
	dir := class(t)
	for _, file := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, used := range []string{"internal", "util"} {
		if err := os.CopyFS(filepath.Join(dir, used), os.DirFS(filepath.Join(root, used))); err != nil {
			t.Fatal(err)
		}
	}
	lock := filepath.Join(dir, "exercises", "05-nested", "lock.go")
	for _, c := range []struct {
		write string // over the exercise
		code  int
		state workshop.State
	}{
		{"", exitBroken, workshop.NotYet},
		{"package", exitTrouble, workshop.Failed},
		{"../exercises/05-nested/solution/lock.go", exitOK, workshop.Done},
	} {
		text := []byte(c.write)
		if strings.HasSuffix(c.write, ".go") {
			if text, err = os.ReadFile(c.write); err != nil {
				t.Fatal(err)
			}
		}
		if len(text) > 0 {
			if err := os.WriteFile(lock, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var out, people bytes.Buffer
		code := Run(t.Context(), []string{"check", "nested", "--json"}, &out, &people)
		var outcome workshop.Outcome
		if err := json.Unmarshal(out.Bytes(), &outcome); err != nil || code != c.code || outcome.State != c.state {
			t.Errorf("after %q: exit code %d, %s, %v, %s; want %d, %s", c.write, code, outcome.State, err, &people, c.code, c.state)
		}
	}
	if p, err := progress.In(dir).Load(); err != nil || !p.Done["05-nested"] {
		t.Errorf("%+v, %v", p, err)
	}
}

// Check has all its words in each language.
func TestCheckWordsAreWhole(t *testing.T) {
	for _, in := range language.All() {
		words := reflect.ValueOf(checkWordsIn(in))
		for i := range words.NumField() {
			if words.Field(i).String() == "" {
				t.Errorf("check has no %s in %s", words.Type().Field(i).Name, in)
			}
		}
	}
	chinese := checkWordsIn(language.Chinese)
	for _, e := range workshop.All() {
		for _, look := range e.Looks {
			for _, a := range look.Anomalies {
				if says := chinese.anomaly(string(a)); says == "" || says == a.Says().In(language.English) {
					t.Errorf("%s is not said in Chinese", a)
				}
			}
		}
	}
}
