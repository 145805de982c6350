//go:build unix

package cli

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
)

// startServer starts a server or a cluster as a process. It returns when the server is up, with the rest of its standard output.
func startServer(t *testing.T, stderr *os.File, args ...string) (*exec.Cmd, io.ReadCloser) {
	t.Helper()
	server := exec.Command(os.Args[0], args...)
	server.Stderr = stderr
	stdout, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill() })
	if line, err := bufio.NewReader(stdout).ReadString('\n'); !strings.HasPrefix(line, "lockstep: http://") {
		t.Fatalf("%v: the first line is %q, %v", args, line, err)
	}
	return server, stdout
}

func newPipe(t *testing.T) (reader, writer *os.File) {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Close(); writer.Close() })
	return reader, writer
}

// awaitEnding reads standard error until the server reports that it is ending, and then discards the rest.
func awaitEnding(t *testing.T, stderr io.Reader) {
	t.Helper()
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "ending: waiting for the sales in flight") {
			go func() { _, _ = io.Copy(io.Discard, stderr) }()
			return
		}
	}
	t.Fatal("it does not say that it ends")
}

// A second signal has no effect: the sales in flight end first.
func TestSecondSignalChangesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		signals []syscall.Signal
		args    []string
	}{
		{"SIGTERM twice", []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM}, []string{"serve"}},
		{"SIGINT twice", []syscall.Signal{syscall.SIGINT, syscall.SIGINT}, []string{"serve"}},
		{"SIGINT after SIGTERM", []syscall.Signal{syscall.SIGTERM, syscall.SIGINT}, []string{"serve"}},
		{"SIGTERM after SIGINT", []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}, []string{"serve"}},
		{"SIGHUP after SIGTERM", []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP}, []string{"serve"}},
		{"to a cluster", []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM}, []string{"cluster", "--replicas", "2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			addr, redisAddr := shoptest.UnusedAddr(t), shoptest.UnusedAddr(t)
			reader, writer := newPipe(t)
			args := slices.Concat(c.args, []string{
				"--server.addr", addr, "--redis.embedded_addr", redisAddr, "--lock.version", "v1", shoptest.PatientBuyers,
			})
			server, _ := startServer(t, writer, args...)
			writer.Close()
			outside := redisclient.Single(redisclient.Config{Addrs: []string{redisAddr}})
			defer outside.Close()
			if err := outside.Set(t.Context(), lock.Key, "another", 0).Err(); err != nil { // so that the sale waits for the lock
				t.Fatal(err)
			}
			s, answered := shoptest.NewClient(t, addr), make(chan int, 1)
			go func() {
				defer close(answered) // even if there is no answer
				status, _ := s.Sell()
				answered <- status
			}()
			suite.Eventually(t, "the sale is in flight", func() bool { return s.Report().InFlight == 1 })
			if err := server.Process.Signal(c.signals[0]); err != nil {
				t.Fatal(err)
			}
			awaitEnding(t, reader)
			if err := server.Process.Signal(c.signals[1]); err != nil {
				t.Fatal(err)
			}
			if err := outside.Del(t.Context(), lock.Key).Err(); err != nil {
				t.Error(err)
			}
			if status := <-answered; status != http.StatusOK {
				t.Errorf("the sale was answered %d", status)
			}
			if err := server.Wait(); err != nil {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

// A server continues when nobody reads its output any more.
func TestServersOutliveClosedStdout(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"serve", "cluster"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr, redisAddr := shoptest.UnusedAddr(t), shoptest.UnusedAddr(t)
			reader, writer := newPipe(t)
			server, stdout := startServer(t, writer, name, "--server.addr", addr, "--redis.embedded_addr", redisAddr)
			reader.Close()
			stdout.Close()
			s := shoptest.NewClient(t, addr)
			for range 3 {
				if status, code := s.Sell(); status != http.StatusOK {
					t.Errorf("a sale was answered %d %s", status, code)
				}
			}
			suite.Eventually(t, "the lines of a server that are lost are counted", func() bool { // for a cluster, its parent counts them
				s.Sell()
				_, metrics := s.Send("GET", "/metrics", "")
				return name == "cluster" || slices.ContainsFunc(strings.Split(metrics, "\n"), func(line string) bool {
					return strings.HasPrefix(line, "lockstep_log_lines_lost_total") && !strings.HasSuffix(line, " 0")
				})
			})
			if err := server.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := server.Wait(); err != nil {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

// A tool ends quietly when its standard output is closed, like a program that SIGPIPE ends.
func TestToolsEndWhenStdoutCloses(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"diff v3 v4", "explore v0", "job --every 100ms --replicas 1 --redis.embedded_addr 127.0.0.1:0 --log.level error",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			reader, writer := newPipe(t)
			reader.Close()
			var stderr strings.Builder
			tool := exec.Command(os.Args[0], strings.Fields(line)...)
			tool.Stdout, tool.Stderr = writer, &stderr
			_ = tool.Run()
			if code := tool.ProcessState.ExitCode(); code != exitUnread || strings.Contains(stderr.String(), "lockstep:") {
				t.Errorf("exit code %d, %s; want %d, and no trouble", code, &stderr, exitUnread)
			}
		})
	}
}
