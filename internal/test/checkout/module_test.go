package checkout

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lockstep/internal/test/suite"
)

// Nothing is known by the path of a package: a copy under another module's name, made as CONTRIBUTING says, explores, checks an exercise,
// and runs a lab.
func TestRenamedCopyBuildsAndRuns(t *testing.T) {
	suite.LongOnly(t, "it builds the whole program under another name")
	suite.Needs(t, "perl")
	text := read(t, "CONTRIBUTING.md")
	rename := regexp.MustCompile("```bash\n(go mod edit -module (?:.*\n)+?)```").FindStringSubmatch(text)
	if rename == nil {
		t.Fatal("CONTRIBUTING.md does not say how to rename the module")
	}
	copied := t.TempDir()
	runIn := func(dir, command string, args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), command, args...)
		c.Dir = dir
		output, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", command, strings.Join(args, " "), err, output)
		}
		return string(output)
	}
	run := func(command string, args ...string) string {
		t.Helper()
		return runIn(copied, command, args...)
	}
	const copies = `git ls-files -coz --exclude-standard | tar -c --null -T - --ignore-failed-read | tar -x -C "$0"` // some are about to go
	if output, err := exec.CommandContext(t.Context(), "sh", "-c", copies, copied).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	run("sh", "-c", "git init -q && git add -A")
	run("sh", "-e", "-c", rename[1])
	runIn(filepath.Join(copied, "museum"), "go", "vet", "./...")
	runIn(filepath.Join(copied, "bench"), "go", "vet", "./...")
	run("go", "test", "-short", "./internal/explore", "./internal/explore/session", "./internal/exercise")
	run("go", "build", "-o", "renamed", ".")
	own := filepath.Join(t.TempDir(), "mylock")
	run("./renamed", "new", own)
	runIn(own, "go", "vet", "./...")
	if said := run("./renamed", "lab", "foreign-delete"); !strings.Contains(said, "v2") || !strings.Contains(said, "v3") {
		t.Error(said)
	}
	if said := run("./renamed", "explore", "v4"); !strings.Contains(said, "36 schedules") {
		t.Error(said)
	}
}
