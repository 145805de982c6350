package cli

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lockstep/internal/test/suite"
)

// A lab that is interrupted leaves no process and no file behind, not even a replica that it has stopped.
func TestAnInterruptedLabLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for _, arguments := range []string{
		"matrix --quick", // many at once
		"lab holder-dies --redis embedded",
		"lab redis-gone --redis embedded",
		"lab scheduled-job --redis embedded",
		"lab paused-writer --redis embedded",
		"lab holder-dies --redis real", // a process more to end
		"lab redis-gone --redis real",
		"lab scheduled-job --redis real",
		"lab paused-writer --redis real",
		"lab failover --redis real", // Redis has a replica
	} {
		t.Run(arguments, func(t *testing.T) {
			if strings.HasSuffix(arguments, "real") {
				suite.Needs(t, "redis-server")
			}
			t.Parallel()
			dir := t.TempDir()
			program, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			command := exec.Command(program, strings.Fields(arguments)...)
			mark := "TMPDIR=" + dir // what it starts inherits it
			command.Env = append(os.Environ(), mark)
			var said bytes.Buffer
			command.Stdout, command.Stderr = &said, &said
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			suite.Eventually(t, "the lab is on", func() bool {
				replicas, reached := 0, false
				for _, state := range marked(mark) {
					replicas++
					reached = reached || state == "T" || !strings.Contains(arguments, "paused-writer")
				}
				return replicas > 2 && reached
			})
			interrupt := syscall.SIGINT
			if strings.Contains(arguments, "failover") && !signal.Ignored(syscall.SIGHUP) { // as under nohup
				interrupt = syscall.SIGHUP // its terminal is closed; Redis would not mind
			}
			if err := command.Process.Signal(interrupt); err != nil {
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

// Nor does a lab that comes to its end, though a replica of it dies, or a Redis.
func TestALabLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for _, arguments := range []string{"holder-dies --lock v2", "failover --lock v1", "lost-update --lock v1"} {
		t.Run(arguments, func(t *testing.T) {
			t.Parallel()
			suite.Needs(t, "redis-server")
			dir := t.TempDir()
			program, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			command := exec.Command(program, append([]string{"lab", "--redis", "real"}, strings.Fields(arguments)...)...)
			command.Env = append(os.Environ(), "TMPDIR="+dir)
			if said, err := command.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, said)
			}
			nothingIsLeft(t, dir)
		})
	}
}

// nothingIsLeft checks that no process is left that was told to keep its temporary files in a directory, or works there, nor any file.
func nothingIsLeft(t *testing.T, dir string) {
	t.Helper()
	if left := marked("TMPDIR=" + dir); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	if left := workingIn(dir); len(left) > 0 { // Redis hides its environment
		t.Errorf("processes that work there are left: %v", left)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("files are left: %v, %v", files, err)
	}
}

// marked gives the states of the processes with that line in their environment, by pid.
func marked(line string) map[string]string {
	states := map[string]string{}
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains("\x00"+string(text), "\x00"+line+"\x00") {
			continue // it has ended, or is somebody else's
		}
		stat, err := os.ReadFile(filepath.Join(filepath.Dir(file), "stat"))
		if err != nil {
			continue
		}
		_, after, _ := strings.Cut(string(stat), ") ")
		states[filepath.Base(filepath.Dir(file))] = after[:1]
	}
	return states
}
