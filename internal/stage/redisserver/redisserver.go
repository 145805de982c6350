// Package redisserver runs a redis-server as a process of its own, on loopback, that can be killed and started again with what it wrote.
package redisserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
)

// ErrNone means that there is no such program on this machine.
var ErrNone = errors.New("it is not installed")

// tries is how many ports are tried: another process may take one that was free a moment ago.
const tries = 5

// Server is one redis-server. One goroutine at a time may use it.
type Server struct {
	addr    string
	program string
	dir     string
	args    []string
	process *os.Process
	ended   chan struct{} // closed when the process has ended, and its log is read
}

// Start starts the program on a free port, with further arguments, in a directory where it keeps its files. It waits until it answers. The
// caller must Kill it.
func Start(ctx context.Context, program, dir string, args ...string) (*Server, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", program, ErrNone, err)
	}
	s := &Server{program: path, dir: dir, args: args}
	for range tries {
		if s.addr, err = freeAddr(); err != nil {
			return nil, err
		}
		if err = s.Run(ctx); err == nil {
			return s, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return nil, err
}

// freeAddr gives an address at which nobody listens. Its port is below those that systems give to whoever asks for any: nobody takes it by
// chance while the server is down.
func freeAddr() (addr string, err error) {
	const first, ports = 20_000, 12_000
	for range tries {
		addr = fmt.Sprintf("127.0.0.1:%d", first+rand.IntN(ports))
		var listener net.Listener
		if listener, err = net.Listen("tcp", addr); err == nil {
			return addr, listener.Close()
		}
	}
	return "", err
}

// Addr gives the address at which it listens.
func (s *Server) Addr() string { return s.addr }

// Run starts it again after Kill, at the same address, and waits until it answers.
func (s *Server) Run(ctx context.Context) error {
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return err
	}
	command := exec.Command(s.program, append([]string{"--bind", host, "--port", port, "--dir", s.dir}, s.args...)...)
	command.Dir = s.dir
	stdout, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", s.program, err)
	}
	ready, ended := make(chan struct{}), make(chan struct{})
	s.process, s.ended = command.Process, ended
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
		s.process = nil
		return fmt.Errorf("%s on %s ended at once, %s; its last word: %s", s.program, s.addr, command.ProcessState, last)
	case <-ctx.Done():
		s.Kill()
		return context.Cause(ctx)
	}
}

// readLog reads what a server says until it ends, closes ready when it says that it listens, and gives its last line.
func readLog(log io.Reader, ready chan struct{}) (last string) {
	lines := bufio.NewScanner(log)
	for said := false; lines.Scan(); {
		if last = lines.Text(); !said && strings.Contains(last, "Ready to accept connections") {
			close(ready)
			said = true
		}
	}
	return last
}

// Kill kills the process, and waits until it has ended. Only what it has written to its files is left.
func (s *Server) Kill() {
	if s.process != nil {
		_ = s.process.Kill() // it may have ended
		<-s.ended
		s.process = nil
	}
}

// Restart kills it, and starts it again: empty, unless it writes down what it does.
func (s *Server) Restart(ctx context.Context) error {
	s.Kill()
	return s.Run(ctx)
}

// PID gives that of the process, 0 while there is none.
func (s *Server) PID() int {
	if s.process == nil {
		return 0
	}
	return s.process.Pid
}
