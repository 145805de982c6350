package checkout

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lockstep/internal/test/suite"
)

// Nothing is known by the path of a package: a copy under another module's name, made as CONTRIBUTING says, explores, checks an exercise,
// and runs a lab.
func TestARenamedCopy(t *testing.T) {
	suite.LongOnly(t, "it builds the whole program under another name")
	suite.Needs(t, "perl")
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	rename := regexp.MustCompile("```bash\n(go mod edit -module .*)\n```").FindSubmatch(text)
	if rename == nil {
		t.Fatal("CONTRIBUTING.md does not say how to rename the module")
	}
	copied := t.TempDir()
	run := func(command string, args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), command, args...)
		c.Dir = copied
		output, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", command, strings.Join(args, " "), err, output)
		}
		return string(output)
	}
	files, err := exec.CommandContext(t.Context(), "git", "ls-files", "-co", "--exclude-standard").Output()
	if err != nil {
		t.Fatal(err)
	}
	for file := range strings.FieldsSeq(string(files)) {
		content, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			continue // it is about to go
		}
		to := filepath.Join(copied, file)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o750)
		}
		if err == nil {
			err = os.WriteFile(to, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run("sh", "-c", string(rename[1]))
	run("go", "test", "-short", "./internal/explore", "./internal/explore/session", "./internal/learn/workshop")
	run("go", "build", "-o", "renamed", ".")
	if said := run("./renamed", "lab", "foreign-delete"); !strings.Contains(said, "v2") || !strings.Contains(said, "v3") {
		t.Error(said)
	}
	if said := run("./renamed", "explore", "v4"); !strings.Contains(said, "36 schedules") {
		t.Error(said)
	}
}
