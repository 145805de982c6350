// Package suite says which suite of tests is run: the quick one, go test ./..., which has every claim in a form that leaves
// a laptop time for other things, or the long one, go test -tags long ./..., which has all of them as they are.
// It also asks for the programs that a test needs.
package suite

import (
	"flag"
	"os"
	"strings"
	"testing"
)

// LongOnly skips the test in the quick suite; the reason says where the quick one has the same in small.
func LongOnly(t testing.TB, reason string) {
	t.Helper()
	if !Long {
		t.Skip("only with -tags long: ", reason)
	}
}

// Parallel lets many tests run at once, unless -parallel says how many: for a package whose tests wait more than they work.
func Parallel() {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return
	}
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
}

// Clean takes the developer's own settings, and language, out of the environment.
func Clean() {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if !IsSetting(name) && !strings.HasPrefix(name, "LC_") && name != "LANG" {
			continue
		}
		if err := os.Unsetenv(name); err != nil {
			panic(err)
		}
	}
}
