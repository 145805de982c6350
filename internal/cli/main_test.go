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
			if stdout := assertFails(t, line, want); stdout != "" {
				t.Errorf("stdout %q; want none", stdout)
			}
		})
	}
}

// assertRefusedLater is assertRefused for commands that may print something before they are refused, but no heading without a table.
func assertRefusedLater(t *testing.T, wantErrors map[string]string) {
	t.Helper()
	for line, want := range wantErrors {
		t.Run(line, func(t *testing.T) {
			if stdout := assertFails(t, line, want); strings.Contains(stdout, "Redis\n") {
				t.Errorf("stdout %q; want no heading", stdout)
			}
		})
	}
}

// assertFails runs a command line, checks its exit code and its error, and returns its standard output.
func assertFails(t *testing.T, line, wantError string) (stdout string) {
	t.Helper()
	code, stdout, stderr := command(t, strings.Split(line, " ")...)
	if code != exitTrouble || !strings.Contains(stderr, wantError) {
		t.Errorf("exit code %d, stderr %q; want %d, and %q", code, stderr, exitTrouble, wantError)
	}
	return stdout
}
