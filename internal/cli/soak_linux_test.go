package cli

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// A soak that is interrupted leaves no process and no file behind, not even a replica or a Redis that it has stopped.
func TestAnInterruptedSoakLeavesNothingBehind(t *testing.T) {
	if kindHere() != "real" {
		t.Skip("a soak needs a redis-server")
	}
	for _, fault := range []string{"stop-replica", "hang-redis", "stall-replica"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			program, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			command := exec.Command(program, "soak", "--minutes", "1", "--faults", fault, "--html", "")
			mark := "TMPDIR=" + dir // what it starts inherits it
			command.Env = append(os.Environ(), mark)
			var said bytes.Buffer
			command.Stdout, command.Stderr = &said, &said
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the soak is on, and something is stopped where it stops something", func() bool {
				all, stopped := marked(mark), 0
				for _, state := range all {
					if state == "T" {
						stopped++
					}
				}
				return len(all) >= 5 && (stopped > 0 || fault == "stall-replica") // this one, Redis, three replicas
			})
			if err := command.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			_ = command.Wait() // that it failed is right
			if code := command.ProcessState.ExitCode(); code != 2 {
				t.Errorf("exit code %d: %s", code, &said)
			}
			if left := marked(mark); len(left) > 0 {
				t.Errorf("processes are left: %v", left)
			}
			if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
				t.Errorf("files are left: %v, %v", files, err)
			}
		})
	}
}
