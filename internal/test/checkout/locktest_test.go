package checkout

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/test/suite"
)

// A module outside of this tree explores a lock of its own, which knows nothing of that, over three clients: a right one passes, a wrong
// one fails with its schedule.
func TestLocktestFromOutside(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a module with three clients of Redis; ./locktest has the same for go-redis")
	}
	suite.LongOnly(t, "it builds a module with three clients of Redis; ./locktest has the same for go-redis")
	outside := t.TempDir()
	if err := os.CopyFS(outside, os.DirFS("locktest/testdata/consumer")); err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	name, err := exec.CommandContext(t.Context(), "go", "list", "-m").Output()
	if err != nil {
		t.Fatal(err)
	}
	module := strings.TrimSpace(string(name))
	text := fmt.Sprintf("module example.com/consumer\n\ngo 1.26.0\n\nrequire (\n\t%s v0.0.0\n\tgithub.com/gomodule/redigo v1.9.3\n"+
		"\tgithub.com/redis/rueidis v1.0.79\n)\n\nreplace %s => %s\n", module, module, here)
	if err := os.WriteFile(filepath.Join(outside, "go.mod"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(arguments ...string) (string, error) {
		c := exec.CommandContext(t.Context(), "go", arguments...)
		c.Dir = outside
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if out, err := run("mod", "tidy"); err != nil {
		if os.Getenv("CI") == "" {
			t.Skipf("the modules of the clients are not to be had: %v\n%s", err, out)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := run("test", "-count=1", "-v", "-run", "TestRight"); err != nil || strings.Count(out, "no anomaly in every schedule") != 3 {
		t.Errorf("the right lock: %v\n%s", err, out)
	}
	out, err := run("test", "-count=1", "-run", "TestWrong")
	const says = `Again: locktest.Replay(t, locktest.Config{Key: "orders", Faults: "slow=1"}, "A:Lock`
	if err == nil || strings.Count(out, "foreign-release: A changes the lock of B") != 3 || strings.Count(out, says) != 3 {
		t.Errorf("the wrong lock: %v\n%s", err, out)
	}
}

// The test that the documents show is one that compiles.
func TestLocktestAsWritten(t *testing.T) {
	source := read(t, "locktest/testdata/consumer/readme_test.go")
	shown := regexp.MustCompile("(?s)func TestLock.*?\n}\n").FindString(source)
	for _, document := range readmes {
		if len(shown) == 0 || !strings.Contains(read(t, document), "```go\n"+shown+"```") {
			t.Errorf("%s does not show\n%s", document, shown)
		}
	}
}

// Who tests a lock by locktest gets no server, no browser and no settings with it.
func TestLocktestIsLight(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./locktest").Output()
	if err != nil {
		t.Fatal(err)
	}
	light := []string{
		"github.com/alicebob/miniredis/v2", "github.com/yuin/gopher-lua", "github.com/redis/go-redis/v9", "github.com/cespare/xxhash/v2",
		"github.com/rivo/uniseg", "go.uber.org/atomic", "golang.org/x/sys",
	}
	for dependency := range strings.FieldsSeq(string(out)) {
		host, _, _ := strings.Cut(dependency, "/")
		if !strings.Contains(host, ".") || strings.HasPrefix(dependency, "vendor/") {
			continue // the standard library's, or ours
		}
		if !slices.ContainsFunc(light, func(prefix string) bool { return strings.HasPrefix(dependency+"/", prefix+"/") }) {
			t.Errorf("locktest depends on %s", dependency)
		}
	}
}
