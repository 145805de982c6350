package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/internal/exercise"
	"lockstep/internal/language"
)

// newCourseDirectory changes to a directory that looks like the module, so that hints can be shown. Nothing can be built there.
func newCourseDirectory(t *testing.T) string {
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

// runCheckCommand runs check, and returns its exit code and its standard output; after exitTrouble, its error message instead.
func runCheckCommand(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out, messages bytes.Buffer
	code := Run(t.Context(), append([]string{"check", "--lang", "en"}, args...), &out, &messages)
	if code == exitTrouble {
		return code, messages.String()
	}
	return code, out.String()
}

func TestEachHintRequestShowsOneMore(t *testing.T) {
	dir := newCourseDirectory(t)
	e, err := exercise.Find("nested")
	if err != nil {
		t.Fatal(err)
	}
	for i := range exercise.HintsEach + 1 {
		code, out := runCheckCommand(t, "05", "--hint")
		given := min(i+1, exercise.HintsEach)
		for j, hint := range e.Hints {
			if has := strings.Contains(out, hint.In(language.English)); code != exitOK || has != (j < given) {
				t.Errorf("after %d requests, hint %d is shown: %t (exit code %d)", i+1, j+1, has, code)
			}
		}
	}
	if p, err := exercise.ProgressIn(dir).Load(); err != nil || p.Hints[e.ID()] != exercise.HintsEach {
		t.Errorf("progress %+v, %v; want all hints counted", p, err)
	}
}

func TestSolutionIsShownOnSecondRequestOrWhenDone(t *testing.T) {
	dir := newCourseDirectory(t)
	if code, out := runCheckCommand(t, "05", "--solution"); code != exitOK || strings.Contains(out, "package") {
		t.Errorf("asked once: exit code %d, %s", code, out)
	}
	if code, out := runCheckCommand(t, "05", "--solution"); code != exitOK || !strings.Contains(out, "// Cure: ") {
		t.Errorf("asked twice: exit code %d, %s", code, out)
	}
	if err := exercise.ProgressIn(dir).Update(func(p *exercise.Progress) { p.Done["06-lost-reply"] = true }); err != nil {
		t.Fatal(err)
	}
	code, out := runCheckCommand(t, "06", "--solution", "--json")
	if code != exitOK || !strings.Contains(out, "Cure: ") || !strings.Contains(out, `"shown": true`) {
		t.Errorf("done: exit code %d, %s", code, out)
	}
}

func TestCheckListShowsProgress(t *testing.T) {
	dir := newCourseDirectory(t)
	if err := exercise.ProgressIn(dir).Update(func(p *exercise.Progress) { p.Done["01-expiry"] = true }); err != nil {
		t.Fatal(err)
	}
	code, out := runCheckCommand(t)
	for _, want := range []string{"✓ 01-expiry", "1 of 19 done", "Next: 02-foreign-delete"} {
		if code != exitOK || !strings.Contains(out, want) {
			t.Errorf("exit code %d, and %q is not in:\n%s", code, want, out)
		}
	}
	var all []struct{ Exercise, State string }
	_, out = runCheckCommand(t, "--json")
	if json.Unmarshal([]byte(out), &all) != nil || len(all) != 19 || all[0].State != "done" || all[1].State != "not yet" {
		t.Errorf("as JSON:\n%s", out)
	}
	if _, out := runCheckCommand(t, "--hint", "--json"); !strings.Contains(out, `"exercise": "02-foreign-delete"`) {
		t.Errorf("a hint without a name is for another exercise:\n%s", out)
	}
}

func TestCheckRejectsWrongArguments(t *testing.T) {
	dir := newCourseDirectory(t)
	for says, args := range map[string][]string{
		"did you mean nested":       {"nestd"},
		"there are 01 to ":          {"99"},
		"cannot be combined":        {"05", "--hint", "--solution"},
		"--watch runs until you":    {"--watch", "--json"},
		"takes no settings":         {"05", "--lock.ttl", "1s"},
		exercise.ProgressFile + ":": {"05"},
	} {
		if strings.HasPrefix(says, exercise.ProgressFile) {
			if err := os.WriteFile(filepath.Join(dir, exercise.ProgressFile), []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if code, out := runCheckCommand(t, args...); code != exitTrouble || !strings.Contains(out, says) {
			t.Errorf("%v: exit code %d, %s; want %q", args, code, out, says)
		}
		_ = os.Remove(filepath.Join(dir, exercise.ProgressFile)) // most of the commands write none
	}
	t.Chdir(t.TempDir())
	if code, out := runCheckCommand(t, "05"); code != exitTrouble || !strings.Contains(out, "clone") {
		t.Errorf("outside: exit code %d, %s", code, out)
	}
}
