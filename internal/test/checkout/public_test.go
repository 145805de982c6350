package checkout

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/test/suite"
)

// A module outside this tree can explore an unchanged lock of its own over three clients. A right lock passes, and a wrong one fails with
// its schedule.
func TestLocktestWorksInOtherModule(t *testing.T) {
	suite.LongOnly(t, "it builds a module with three clients of Redis; ./locktest has the same for go-redis")
	run := outside(t, "locktest/testdata/consumer")
	if out, err := run("test", "-count=1", "-v", "-run", "TestRight"); err != nil || strings.Count(out, "no anomaly in every schedule") != 3 {
		t.Errorf("the right lock: %v\n%s", err, out)
	}
	out, err := run("test", "-count=1", "-run", "TestWrong")
	const says = `Again: locktest.Replay(t, locktest.Config{Key: "orders", Faults: "slow=1"}, "A:Lock`
	if err == nil || strings.Count(out, "foreign-release: A removes B's lock") != 3 || strings.Count(out, says) != 3 {
		t.Errorf("the wrong lock: %v\n%s", err, out)
	}
}

// A module outside this tree can explore an unchanged handler of its own, and its test fails with the oversell in six steps. The package's
// Examples work as such a module too.
func TestRedistestWorksInOtherModule(t *testing.T) {
	suite.LongOnly(t, "it builds a module with two clients of Redis; ./redistest has the same for go-redis")
	run := outside(t, "redistest/testdata/consumer")
	out, err := run("test", "-count=1", "-v", "-run", "TestOverRueidis")
	if err != nil || !strings.Contains(out, "nothing found in every schedule") {
		t.Errorf("the script: %v\n%s", err, out)
	}
	out, err = run("test", "-count=1", "-run", "TestSale")
	const says = `Again: redistest.Replay(t, redistest.Config{}, "A:start B:start A:GET B:GET A:SET B:SET", system)`
	if err == nil || !strings.Contains(out, "check: 2 are sold, and 1 of 2 are left") || !strings.Contains(out, says) {
		t.Errorf("the handler: %v\n%s", err, out)
	}
}

var importLines = regexp.MustCompile("(?s)```bash\n(go mod edit -require .*?)```")

// outside makes a module of a folder's files, with the clients of Redis, points it at this checkout as docs/your-own-lock.md says, and
// returns a function that runs go in it.
func outside(t *testing.T, folder string) (run func(arguments ...string) (string, error)) {
	t.Helper()
	suite.Needs(t, "sh")
	module := t.TempDir()
	if err := os.CopyFS(module, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	imports := importLines.FindStringSubmatch(read(t, "docs/your-own-lock.md"))
	if imports == nil {
		t.Fatal("docs/your-own-lock.md does not say how to import locktest")
	}
	const clients = "go mod init example.com/consumer && " +
		"go mod edit -require github.com/gomodule/redigo@v1.9.3 -require github.com/redis/rueidis@v1.0.79\n"
	shell := exec.CommandContext(t.Context(), "sh", "-ec", clients+strings.ReplaceAll(imports[1], "/path/to/clone", here))
	shell.Dir = module
	if out, err := shell.CombinedOutput(); err != nil {
		if os.Getenv("CI") == "" {
			t.Skipf("the modules of the clients are not to be had: %v\n%s", err, out)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	run = func(arguments ...string) (string, error) {
		c := exec.CommandContext(t.Context(), "go", arguments...)
		c.Dir = module
		out, err := c.CombinedOutput()
		return string(out), err
	}
	return run
}

// The tests that the documents show compile.
func TestDocumentedTestsCompile(t *testing.T) {
	for _, source := range []string{"locktest/testdata/consumer/mine_test.go", "redistest/testdata/consumer/sale_test.go"} {
		shown := regexp.MustCompile("(?s)func Test(Lock|Sale)\\(.*?\n}\n").FindString(read(t, source))
		for _, document := range []string{"docs/your-own-lock.md", "docs/your-own-lock.zh-CN.md"} {
			if len(shown) == 0 || !strings.Contains(read(t, document), "```go\n"+shown+"```") {
				t.Errorf("%s does not show\n%s", document, shown)
			}
		}
	}
}

// The packages locktest and redistest depend on no server, no browser and no settings.
func TestPublicPackagesImportNoServer(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "./locktest", "./redistest").Output()
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
			t.Errorf("they depend on %s", dependency)
		}
	}
}
