package ownlock

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/test/suite"
)

// Each step of the lock fails its own test until it is done, with a counterexample, and then passes it and all before.
func TestEachStepPassesItsTestsAlone(t *testing.T) {
	suite.LongOnly(t, "it builds a module seven times")
	dir, reference := written(t), read(t, "testdata/reference.go.txt")
	for step := range Steps + 1 {
		if step > 0 { // otherwise it is as it was written
			text := strings.Replace(reference, "const step = 0", fmt.Sprint("const step = ", step), 1)
			if err := os.WriteFile(filepath.Join(dir, "lock.go"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		command := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-v")
		command.Dir = dir
		command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly")
		out, err := command.CombinedOutput()
		var passed, failed []string
		for _, test := range regexp.MustCompile(`(?m)^--- (PASS|FAIL): TestStep(\d)`).FindAllStringSubmatch(string(out), -1) {
			if test[1] == "PASS" {
				passed = append(passed, test[2])
			} else {
				failed = append(failed, test[2])
			}
		}
		var want []string
		for done := 1; done <= step; done++ {
			want = append(want, fmt.Sprint(done))
		}
		next := fmt.Sprint(step + 1)
		if !slices.Equal(passed[:min(step, len(passed))], want) || (err == nil) != (step == Steps) ||
			step < Steps && (!slices.Contains(failed, next) || !strings.Contains(string(out), "Again: ")) {
			t.Errorf("step %d passes %v, and fails %v: %v\n%s", step, passed, failed, err, out)
		}
	}
}

// written is a folder with the module in it.
func written(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "my lock")
	if err := Write(dir, root, language.English); err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestNothingIsWrittenOver(t *testing.T) {
	dir := written(t)
	if err := Write(dir, "../../..", language.English); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("a second time: %v", err)
	}
	if err := Write(filepath.Join(dir, "lock.go"), "../../..", language.English); err == nil {
		t.Error("a file is taken for a folder")
	}
	empty := t.TempDir()
	if err := Write(empty, "../../..", language.Chinese); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
	if readme := read(t, filepath.Join(empty, "README.md")); !strings.Contains(readme, "自己写一把锁") {
		t.Errorf("the README is\n%s", readme)
	}
}
