package course_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/internal/course"
)

// Progress is there again when the file is opened anew, and what others keep in the file stays.
func TestProgress(t *testing.T) {
	file := filepath.Join(t.TempDir(), course.ProgressFile)
	if err := os.WriteFile(file, []byte(`{"exercises":{"05":"done"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := course.OpenProgress(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, done := p.Chosen("oversell"); done {
		t.Error("a beginner is done with a lesson")
	}
	if err := p.Done("oversell", 2); err != nil {
		t.Fatal(err)
	}
	if p, err = course.OpenProgress(file); err != nil {
		t.Fatal(err)
	}
	if choice, done := p.Chosen("oversell"); choice != 2 || !done {
		t.Errorf("choice %d, done %v", choice, done)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), `"05": "done"`) {
		t.Errorf("%s, %v", text, err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*.json.*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// A file that somebody broke is named, and Reset begins anew.
func TestProgressIsBroken(t *testing.T) {
	for _, text := range []string{"", "null", "[]", `{"lessons":null}`, `{"lessons":7}`, `{"lessons":{"a":"b"}}`} {
		file := filepath.Join(t.TempDir(), course.ProgressFile)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := course.OpenProgress(file); err == nil || !strings.Contains(err.Error(), "--reset") {
			t.Errorf("%q: %v", text, err)
		}
		if err := course.Reset(file); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		if _, err := course.OpenProgress(file); err != nil {
			t.Errorf("%q, and reset: %v", text, err)
		}
	}
}
