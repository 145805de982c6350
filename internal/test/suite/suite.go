// Package suite selects the suite of tests. The quick suite, go test ./..., checks every claim, some of them on a smaller scale. The long
// suite, go test -tags long ./..., checks every claim in full. The package also has helpers that tests of several packages share, such as
// Needs and Eventually.
package suite

import (
	"flag"
	"os"
	"strings"
	"testing"
)

// LongOnly skips the test in the quick suite. reason names the quick test that checks the same claim on a smaller scale.
func LongOnly(t testing.TB, reason string) {
	t.Helper()
	if !Long {
		t.Skip("only with -tags long: ", reason)
	}
}

// Parallel raises the number of tests that run at once, unless -parallel sets that number. It is for packages whose tests wait more than
// they work.
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

// Clean removes the developer's settings and language from the environment.
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
