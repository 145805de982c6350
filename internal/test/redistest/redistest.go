// Package redistest starts real Redis servers for tests.
package redistest

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockstep/internal/test/suite"
)

// patience is how long a server may take to start.
const patience = 20 * time.Second

// Server is a redis-server process of the test's own, empty, on a loopback port of its own.
type Server struct {
	Addr string

	t       testing.TB
	args    []string
	process *os.Process
	ended   chan struct{} // closed when it has, and its log is read
}

// Start starts a server that ends with the test, with further arguments; PORT among them is its port. It asks for redis-server, as
// suite.Needs does: a test that starts something before asks itself.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	suite.Needs(t, "redis-server")
	s := &Server{t: t, args: args}
	t.Cleanup(s.Stop)
	for range 5 {
		s.Addr = "127.0.0.1:" + FreePort(t)
		err := s.run()
		if err == nil {
			return s
		}
		t.Logf("another port: %v", err) // another process may have taken this one meanwhile
	}
	t.Fatal("no redis-server could be started")
	return nil
}

// Run starts the process again, after Stop, and waits until it answers.
func (s *Server) Run() {
	s.t.Helper()
	if err := s.run(); err != nil {
		s.t.Fatal(err)
	}
}

func (s *Server) run() error {
	s.t.Helper()
	_, port, err := net.SplitHostPort(s.Addr)
	if err != nil {
		s.t.Fatal(err)
	}
	args := []string{"--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--maxclients", "4000"}
	for _, arg := range s.args {
		args = append(args, strings.ReplaceAll(arg, "PORT", port))
	}
	if len(s.args) > 0 && !strings.HasPrefix(s.args[0], "--") { // a configuration file comes first
		args = append([]string{s.args[0]}, slices.Delete(args, len(args)-len(s.args), len(args)-len(s.args)+1)...)
	}
	command := exec.Command("redis-server", args...)
	command.Dir, command.Stderr = s.t.TempDir(), io.Discard
	stdout, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	s.process = command.Process
	ready, ended := make(chan struct{}), make(chan struct{})
	s.ended = ended
	go func() {
		defer close(ended)
		readLog(stdout, ready)
		_ = command.Wait() // its ProcessState says how it ended
	}()
	select {
	case <-ready:
		return nil
	case <-ended:
		return fmt.Errorf("redis-server on %s ended at once: %s", s.Addr, command.ProcessState)
	case <-time.After(patience):
		return fmt.Errorf("redis-server on %s is not ready after %v", s.Addr, patience)
	}
}

// readLog reads what a server says until it ends, and closes ready when it says that it listens. That its port answers is no proof: by then
// another process may have taken it.
func readLog(log io.Reader, ready chan struct{}) {
	lines := bufio.NewScanner(log)
	for said := false; lines.Scan(); {
		if line := lines.Text(); !said && (strings.Contains(line, "Ready to accept connections") || strings.Contains(line, "Sentinel ID is")) {
			close(ready)
			said = true
		}
	}
}

// Stop kills the process, and waits until it has ended; what it held is gone.
func (s *Server) Stop() {
	if s.process != nil {
		_ = s.process.Kill() // it may have ended
		<-s.ended
		s.process = nil
	}
}

// portsEach is how many ports are kept for who asks for one: an embedded Redis has masters on the ports after its own.
const portsEach = 8

// FreePort gives a port that nobody listens at: a random one below those that the system gives to whoever asks for any. It stays free until
// the test's server has it: a file keeps it, and those after it, from other tests until this one ends.
func FreePort(t testing.TB) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(20_000 + portsEach*rand.IntN(12_000/portsEach))
		kept := filepath.Join(os.TempDir(), "lockstep-test-port-"+port)
		if info, err := os.Stat(kept); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.Remove(kept) // its test was killed: none lasts so long
		}
		file, err := os.OpenFile(kept, os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			continue // another test has it
		}
		t.Cleanup(func() { _ = os.Remove(kept) })
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		listener, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			continue // somebody else has it
		}
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		return port
	}
	t.Fatal("of a hundred ports none is free")
	return ""
}
