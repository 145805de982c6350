package cluster

import (
	"os"
	"strings"
	"testing"
	"time"
)

// If replicas cannot start, the error contains their output, and no file is left behind. Here the program is this test, which does not know
// the flag.
func TestStartIsolatedReturnsOutputOfFailedReplica(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	here := t.TempDir()
	t.Setenv("TMPDIR", here)
	_, err = StartIsolated(t.Context(), program, 1, func(string) []string { return []string{"-test.run=none"} }, time.Second)
	if err == nil || !strings.Contains(err.Error(), "r1 did not start") || !strings.Contains(err.Error(), "not defined: -until-stdin-ends") {
		t.Errorf("%v; want it to say that r1 did not start, and why", err)
	}
	if left, err := os.ReadDir(here); err != nil || len(left) > 0 {
		t.Errorf("%v, %v are left", err, left)
	}
}
