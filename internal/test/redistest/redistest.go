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

	"lockstep/internal/stage/redisserver"
	"lockstep/internal/test/suite"
)

// patience is how long a server may take to start.
const patience = 20 * time.Second

// Server is a process of a Redis server of the test's own, empty, on a loopback port of its own.
type Server struct {
	Addr string

	t       testing.TB
	program string
	args    []string
	process *os.Process
	ended   chan struct{} // closed when it has, and its log is read
}

// Start starts a server that ends with the test, with further arguments; PORT among them is its port. It asks for redis-server, as
// suite.Needs does: a test that starts something before asks itself.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	suite.Needs(t, "redis-server")
	program, err := redisserver.Find()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, program: program, args: args}
	t.Cleanup(s.Stop)
	for range 5 {
		s.Addr = "127.0.0.1:" + FreePort(t)
		err := s.run()
		if err == nil {
			return s
		}
		if strings.Contains(err.Error(), "TLS support") {
			t.Skip(err)
		}
		t.Logf("another port: %v", err) // another process may have taken this one meanwhile
	}
	t.Fatal("no server could be started: ", program)
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
	command := exec.Command(s.program, args...)
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
	var last string
	go func() {
		defer close(ended)
		last = readLog(stdout, ready)
		_ = command.Wait() // its ProcessState says how it ended
	}()
	select {
	case <-ready:
		return nil
	case <-ended:
		return fmt.Errorf("%s on %s ended at once: %s: %s", s.program, s.Addr, command.ProcessState, last)
	case <-time.After(patience):
		return fmt.Errorf("%s on %s is not ready after %v", s.program, s.Addr, patience)
	}
}

// readLog reads what a server says until it ends, closes ready when it says that it listens, and returns its last line. That its port
// answers is no proof: by then another process may have taken it.
func readLog(log io.Reader, ready chan struct{}) (last string) {
	lines := bufio.NewScanner(log)
	for said := false; lines.Scan(); {
		last = lines.Text()
		if !said && (strings.Contains(last, "Ready to accept connections") || strings.Contains(last, "Sentinel ID is")) {
			close(ready)
			said = true
		}
	}
	return last
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
