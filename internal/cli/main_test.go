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

// runAsLockstep is the variable that makes this test's program run as lockstep, for tests that start processes.
const runAsLockstep = "RUN_AS_LOCKSTEP"

func TestMain(m *testing.M) {
	ofTests := len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "-test.") // for example a fuzzing worker
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

// command runs a command line, and returns its exit code and output.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// assertRefused runs each command line, and checks that it exits with exitTrouble, prints the wanted error, and nothing on stdout.
func assertRefused(t *testing.T, wantErrors map[string]string) {
	t.Helper()
	for line, want := range wantErrors {
		t.Run(line, func(t *testing.T) {
			code, stdout, stderr := command(t, strings.Split(line, " ")...)
			if code != exitTrouble || stdout != "" || !strings.Contains(stderr, want) {
				t.Errorf("exit code %d, stdout %q, stderr %q; want %d, no stdout, and %q", code, stdout, stderr, exitTrouble, want)
			}
		})
	}
}
