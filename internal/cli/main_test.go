package cli

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"lockstep/internal/test/suite"
)

// runAsLockstep in the environment makes this test's program the command itself, for tests that start processes.
const runAsLockstep = "RUN_AS_LOCKSTEP"

func TestMain(m *testing.M) {
	ofTests := len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "-test.") // such as a worker that fuzzes
	if os.Getenv(runAsLockstep) != "" && !ofTests {
		os.Exit(Run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	suite.Clean()
	if err := os.Setenv(runAsLockstep, "1"); err != nil { // for the processes that tests start
		panic(err)
	}
	suite.Parallel()
	goleak.VerifyTestMain(m)
}

// command runs a command line and gives its exit code and what it printed.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// refuses sees that command lines are refused, each with what it says, with no heading that nothing follows; alone: with nothing printed.
func refuses(t *testing.T, alone bool, lines map[string]string) {
	t.Helper()
	for line, says := range lines {
		t.Run(line, func(t *testing.T) {
			code, stdout, stderr := command(t, strings.Split(line, " ")...)
			if code != exitTrouble || !strings.Contains(stderr, says) || alone && stdout != "" || strings.Contains(stdout, "Redis\n") {
				t.Errorf("exit code %d, %s%s; want %d, and %q", code, stdout, stderr, exitTrouble, says)
			}
		})
	}
}
