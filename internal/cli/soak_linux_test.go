package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lockstep/internal/test/suite"
)

// A soak that is interrupted leaves no process and no file behind, not even a replica or a Redis that it has stopped.
func TestAnInterruptedSoakLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	suite.LongOnly(t, "the quick suite interrupts labs")
	suite.Needs(t, "redis-server")
	for _, fault := range []string{"stop-replica", "hang-redis", "stall-replica"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			program, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			command := exec.Command(program, "soak", "--minutes", "1", "--faults", fault, "--html", "")
			command.Env = append(os.Environ(), "TMPDIR="+dir) // what it starts works there
			var said bytes.Buffer
			command.Stdout, command.Stderr = &said, &said
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			suite.Eventually(t, "the soak is on, and something is stopped where it stops something", func() bool {
				all := workingIn(dir)
				return len(all) == 4 && (slices.Contains(all, "T") || fault == "stall-replica") // Redis and three replicas
			})
			if err := command.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			_ = command.Wait() // that it failed is right
			if code := command.ProcessState.ExitCode(); code != 2 {
				t.Errorf("exit code %d: %s", code, &said)
			}
			nothingIsLeft(t, dir)
		})
	}
}

// workingIn gives the states of the processes that work in a directory, or under it. Redis hides its environment.
func workingIn(dir string) (states []string) {
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		return nil
	}
	for _, link := range links {
		cwd, err := os.Readlink(link)
		if err != nil || !strings.HasPrefix(cwd, dir) {
			continue // it has ended, or is somebody else's
		}
		if stat, err := os.ReadFile(filepath.Join(filepath.Dir(link), "stat")); err == nil {
			_, after, _ := strings.Cut(string(stat), ") ")
			states = append(states, after[:1])
		}
	}
	return states
}
