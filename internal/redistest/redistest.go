// Package redistest starts real Redis servers for tests.
package redistest

import (
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// patience is how long a server may take to start.
const patience = 20 * time.Second

// Server is a redis-server process of the test's own, empty, on a loopback port of its own.
type Server struct {
	Addr string

	t       testing.TB
	args    []string
	process *os.Process
}

// Start starts a server that ends with the test, with further arguments; PORT among them is its port. Where no redis-server
// is installed the test is skipped; in CI it fails.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("redis-server is not installed, and in CI it has to be: ", err)
		}
		t.Skip("redis-server is not installed, so this is not tested on a real Redis: ", err)
	}
	s := &Server{Addr: "127.0.0.1:" + FreePort(t), t: t, args: args}
	s.Run()
	t.Cleanup(s.Stop)
	return s
}

// Run starts the process, again after Stop, and waits until it answers.
func (s *Server) Run() {
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
	command.Dir, command.Stdout, command.Stderr = s.t.TempDir(), io.Discard, io.Discard
	if err := command.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.process = command.Process
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()

	timeout := time.After(patience)
	for {
		conn, err := net.Dial("tcp", s.Addr)
		if err == nil {
			conn.Close()
			return
		}
		select {
		case err := <-ended:
			s.t.Fatalf("redis-server on %s ended at once: %v", s.Addr, err)
		case <-timeout:
			s.t.Fatalf("redis-server on %s does not answer after %v: %v", s.Addr, patience, err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Stop kills the process; what it held is gone.
func (s *Server) Stop() {
	if s.process != nil {
		_ = s.process.Kill() // it may have ended
		s.process = nil
	}
}

// Signal sends the process a signal; one that stops it makes it hang.
func (s *Server) Signal(signal os.Signal) error {
	if s.process == nil {
		return os.ErrProcessDone
	}
	return s.process.Signal(signal)
}

// FreePort gives a port that nobody listens at: a random one below those that the system gives to whoever asks for any, so that it
// stays free until the test's server has it.
func FreePort(t testing.TB) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(20_000 + rand.IntN(12_000))
		listener, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			continue // somebody has it
		}
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		return port
	}
	t.Fatal("of a hundred ports none is free")
	return ""
}
