package suite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/internal/fault"
	"lockstep/internal/test/suite"
)

// told is a test that notes how it was ended, and goes on.
type told struct {
	testing.TB
	skip, fatal string
}

func (t *told) Skipf(format string, args ...any)  { t.skip = fmt.Sprintf(format, args...) }
func (t *told) Fatalf(format string, args ...any) { t.fatal = fmt.Sprintf(format, args...) }
func (t *told) Fatal(args ...any)                 { t.fatal = fmt.Sprint(args...) }

func TestNeedsSkipsWithoutRedis(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	t.Setenv(fault.RedisVariable, "")
	for _, program := range []string{"nginx", "nginx.exe"} { // .exe, where Windows looks for it
		if err := os.WriteFile(filepath.Join(dir, program), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ ci, program, skip, fatal string }{
		{"", "nginx", "", ""},
		{"true", "nginx", "", ""},
		{"", "mvn", "mvn is not installed; its package is maven", ""},
		{"true", "chromium", "", "chromium is not installed, and in CI it has to be; its package is chromium"},
	} {
		t.Setenv("CI", c.ci)
		got := told{TB: t}
		suite.Needs(&got, c.program)
		if got.skip != c.skip || got.fatal != c.fatal {
			t.Errorf("CI=%s, %s: skipped %q, failed %q; want %q, %q", c.ci, c.program, got.skip, got.fatal, c.skip, c.fatal)
		}
	}
}

// A server of choice that is not there is no reason to skip.
func TestNeedsFailsWithoutChosenServer(t *testing.T) {
	t.Setenv("CI", "")
	t.Setenv(fault.RedisVariable, filepath.Join(t.TempDir(), "none"))
	got := told{TB: t}
	suite.Needs(&got, "redis-server")
	if got.skip != "" || !strings.HasPrefix(got.fatal, fault.RedisVariable+": ") {
		t.Errorf("skipped %q, failed %q; want it to fail", got.skip, got.fatal)
	}
}
