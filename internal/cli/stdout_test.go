package cli

import (
	"bytes"
	"context"
	"strings"
	"syscall"
	"testing"
)

// A command whose output cannot be written says so, and exits with exitTrouble.
func TestLostOutputIsAnError(t *testing.T) {
	for _, line := range []string{
		"explore v0", "explore v0 --json", "explore v0 --mermaid", "explore v2 --replay A:SET",
		"explore v4 --step",
		"diff v3 v4", "diff v3 v4 --stat", "lab", "matrix --help",
		"--version", "help settings", "check", "course --list",
		"completion bash", "burst -n 2 -c 2 --server.addr 127.0.0.1:0", "burst -n 2 -c 2 --json --server.addr 127.0.0.1:0",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			var stderr bytes.Buffer
			code := Program{Name: "lockstep", In: strings.NewReader("")}.Run(t.Context(), strings.Fields(line), fullDisk{}, &stderr)
			want := "lockstep: standard output: no space left on device\n"
			if code != exitTrouble || strings.Count(stderr.String(), "no space left") != 1 || !strings.HasSuffix(stderr.String(), want) {
				t.Errorf("exit code %d, %s; want %d and %q", code, stderr.String(), exitTrouble, want)
			}
		})
	}
}

// An interrupted command ends even if nobody reads its output.
func TestUnreadOutputDoesNotBlockTheEnd(t *testing.T) {
	t.Parallel()
	stdout := newUnreadWriter(t)
	ctx, end := context.WithCancel(t.Context())
	end()
	var stderr bytes.Buffer
	code := Run(ctx, []string{"diff", "v3", "v4"}, stdout, &stderr) // otherwise the test times out
	if want := "lockstep: standard output: nobody reads it\n"; code != exitTrouble || stderr.String() != want {
		t.Errorf("exit code %d, %s; want %d and %q", code, &stderr, exitTrouble, want)
	}
}

// fullDisk is a writer to a full disk.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }
