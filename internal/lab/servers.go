package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"strconv"
	"strings"
)

// servers are the redis-server processes of one run. They keep what they write in one directory.
type servers struct {
	dir string
	all []*server
}

// server is one of them.
type server struct {
	host, port string
	dir        string
	arguments  []string
	process    *exec.Cmd // nil while there is none
}

// Ports for servers are below those that systems give to whoever asks for any: nobody takes one by chance while its server restarts.
const (
	loopback    = "127.0.0.1"
	firstPort   = 20_000
	portsBeyond = 12_000
	portsToTry  = 10
)

// start starts one more, with further arguments, on a free port.
func (s *servers) start(ctx context.Context, arguments ...string) (*server, error) {
	var err error
	for range portsToTry { // another process may have one, or take it first
		port := strconv.Itoa(firstPort + rand.IntN(portsBeyond))
		server := &server{host: loopback, port: port, dir: s.dir, arguments: arguments}
		if err = server.run(ctx); err == nil {
			s.all = append(s.all, server)
			return server, nil
		}
		if !errors.Is(err, errEnded) {
			break
		}
	}
	return nil, err
}

// kill kills all.
func (s *servers) kill() error {
	var errs []error
	for _, server := range s.all {
		errs = append(errs, server.Kill())
	}
	return errors.Join(errs...)
}

func (s *server) Addr() string { return net.JoinHostPort(s.host, s.port) }

// Kill kills the process; what it holds is nobody's any more.
func (s *server) Kill() error {
	if s.process != nil {
		_ = s.process.Process.Kill() // it may have ended
		_ = s.process.Wait()         // says that it was killed
		s.process = nil
	}
	return nil
}

// Restart kills the process, and starts it again at the same port: empty, unless it writes down what it does.
func (s *server) Restart(ctx context.Context) error {
	return errors.Join(s.Kill(), s.run(ctx))
}

// run starts the process, and waits until it listens.
func (s *server) run(ctx context.Context) error {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return ErrNoRedis
	}
	command := exec.Command(program, append([]string{
		"--bind", s.host, "--port", s.port, "--save", "", "--appendonly", "no", "--dbfilename", s.port + ".rdb",
		"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0",
	}, s.arguments...)...)
	command.Dir = s.dir
	stdout, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", program, err)
	}
	s.process = command
	ready := make(chan error, 1)
	go func() { ready <- untilReady(stdout) }()
	select {
	case err = <-ready:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("redis-server on %s: %w", s.Addr(), err), s.Kill())
	}
	return nil
}

// untilReady reads what a server says until it listens, and lets the rest go.
func untilReady(log io.Reader) error {
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return fmt.Errorf("%w: %w", errEnded, err)
		}
		if strings.Contains(line, "Ready to accept connections") {
			go func() { _, _ = io.Copy(io.Discard, lines) }() // or it would block on its log; it ends with the server
			return nil
		}
	}
}
