package cli

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
)

// An interrupted lab, matrix or soak leaves no process and no file behind, not even a stopped replica or Redis.
func TestInterruptedCommandLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for _, arguments := range []string{
		"matrix --quick", // several labs at once
		"lab holder-dies --redis embedded",
		"lab redis-gone --redis embedded",
		"lab scheduled-job --redis embedded",
		"lab paused-writer --redis embedded",
		"lab holder-dies --redis real", // one more process to end
		"lab redis-gone --redis real",
		"lab scheduled-job --redis real",
		"lab paused-writer --redis real",
		"lab failover --redis real", // Redis has a replica
		"soak --minutes 1 --html= --faults stop-replica",
		"soak --minutes 1 --html= --faults hang-redis",
		"soak --minutes 1 --html= --faults stall-replica",
	} {
		t.Run(arguments, func(t *testing.T) {
			soak := strings.HasPrefix(arguments, "soak")
			if soak {
				suite.LongOnly(t, "the quick suite interrupts labs")
			}
			if soak || strings.HasSuffix(arguments, "real") {
				suite.Needs(t, "redis-server")
			}
			t.Parallel()
			dir := t.TempDir()
			mark := "TMPDIR=" + dir // inherited by the processes that it starts
			command, said := newCommand(t, mark, arguments)
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			suite.Eventually(t, "it runs, and has stopped a process if it stops one", func() bool {
				if soak {
					all := statesOfProcessesIn(dir)
					return len(all) == 4 && (slices.Contains(all, "T") || strings.Contains(arguments, "stall")) // Redis and three replicas
				}
				states := slices.Collect(maps.Values(statesByPID(mark)))
				return len(states) > 2 && (slices.Contains(states, "T") || !strings.Contains(arguments, "paused-writer"))
			})
			interrupt := syscall.SIGINT
			if strings.Contains(arguments, "failover") && !signal.Ignored(syscall.SIGHUP) { // ignored under nohup
				interrupt = syscall.SIGHUP // as if the terminal was closed, which Redis ignores
			}
			if err := command.Process.Signal(interrupt); err != nil {
				t.Fatal(err)
			}
			_ = command.Wait() // an error is expected
			if code := command.ProcessState.ExitCode(); code != 2 {
				t.Errorf("exit code %d: %s", code, said)
			}
			assertNothingLeft(t, dir)
		})
	}
}

// newCommand returns a command that runs this test's program as lockstep, with one more variable in its environment, and its output.
func newCommand(t *testing.T, line, arguments string) (command *exec.Cmd, said *bytes.Buffer) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command, said = exec.Command(program, strings.Fields(arguments)...), &bytes.Buffer{}
	command.Env = append(os.Environ(), line)
	command.Stdout, command.Stderr = said, said
	return command, said
}

// A finished lab leaves no process and no file behind, even if one of its replicas or its Redis died.
func TestFinishedLabLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for _, arguments := range []string{"holder-dies --lock v2", "failover --lock v1", "lost-update --lock v1"} {
		t.Run(arguments, func(t *testing.T) {
			t.Parallel()
			suite.Needs(t, "redis-server")
			dir := t.TempDir()
			command, said := newCommand(t, "TMPDIR="+dir, "lab --redis real "+arguments)
			if err := command.Run(); err != nil {
				t.Errorf("%v: %s", err, said)
			}
			assertNothingLeft(t, dir)
		})
	}
}

// A lab that a server runs leaves nothing behind when its watcher leaves, and when the server ends.
func TestLabOfServerLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for _, arguments := range []string{"serve", "cluster --replicas 1"} {
		t.Run(arguments, func(t *testing.T) {
			t.Parallel()
			dir, addr := t.TempDir(), shoptest.UnusedAddr(t)
			mark := "TMPDIR=" + dir
			server, said := newCommand(t, mark, arguments+" --redis.embedded_addr "+shoptest.AnyPort+" --server.addr "+addr)
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = server.Process.Kill() }()
			suite.Eventually(t, "it is up", func() bool {
				answer, err := http.Get("http://" + addr + "/healthz")
				if err == nil {
					_ = answer.Body.Close()
				}
				return err == nil
			})
			own := len(statesByPID(mark))
			watch := func() io.ReadCloser {
				answer, err := http.Post("http://"+addr+"/labs/holder-dies", "", http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				suite.Eventually(t, "the lab's replicas are up", func() bool { return len(statesByPID(mark)) == own+2 })
				return answer.Body
			}
			_ = watch().Close()
			suite.Eventually(t, "nothing is left of the first", func() bool {
				files, err := os.ReadDir(dir)
				return err == nil && len(files) == 0 && len(statesByPID(mark)) == own
			})
			last := watch()
			defer last.Close()
			if err := server.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := server.Wait(); err != nil {
				t.Errorf("%v: %s", err, said)
			}
			if told, err := io.ReadAll(last); err != nil || !strings.HasSuffix(string(told), "event: failed\ndata: \"the server is ending\"\n\n") {
				t.Errorf("the second watcher got %s, %v", told, err)
			}
			assertNothingLeft(t, dir)
		})
	}
}

// assertNothingLeft checks that there is no process whose temporary directory is dir or that works there, and no file in dir.
func assertNothingLeft(t *testing.T, dir string) {
	t.Helper()
	if left := statesByPID("TMPDIR=" + dir); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	if left := statesOfProcessesIn(dir); len(left) > 0 { // Redis overwrites its environment
		t.Errorf("processes that work there are left: %v", left)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("files are left: %v, %v", files, err)
	}
}

// statesByPID returns the states of the processes with this line in their environment.
func statesByPID(line string) map[string]string {
	states := map[string]string{}
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains("\x00"+string(text), "\x00"+line+"\x00") {
			continue // it has ended, or belongs to another user
		}
		if state := readState(file); state != "" {
			states[filepath.Base(filepath.Dir(file))] = state
		}
	}
	return states
}

// statesOfProcessesIn returns the states of the processes whose working directory is dir or below it. It finds Redis, which overwrites its
// environment.
func statesOfProcessesIn(dir string) (states []string) {
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		return nil
	}
	for _, link := range links {
		cwd, err := os.Readlink(link)
		if err != nil || !strings.HasPrefix(cwd, dir) {
			continue // it has ended, or belongs to another user
		}
		if state := readState(link); state != "" {
			states = append(states, state)
		}
	}
	return states
}

// readState returns the state of the process that a file in /proc belongs to; "": it has ended.
func readState(file string) string {
	stat, err := os.ReadFile(filepath.Join(filepath.Dir(file), "stat"))
	if err != nil {
		return ""
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return after[:1]
}
