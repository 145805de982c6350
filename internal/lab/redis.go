package lab

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"

	"lockstep/internal/dao"
)

// Kind says which Redis a lab runs on.
type Kind string

// The kinds.
const (
	Embedded Kind = "embedded" // in this process
	Real     Kind = "real"     // a redis-server of the lab's own
)

// redisOf is the Redis of one run.
type redisOf struct {
	addr  string
	nodes []string
	end   func() error                    // of a real one: kill -9
	begin func(ctx context.Context) error // of a real one: start it again
	close func() error
}

// openRedis starts one, empty, on a free port.
func openRedis(ctx context.Context, kind Kind, dir string, durable bool) (redisOf, error) {
	embedded, err := dao.Open(ctx, dao.Config{EmbeddedAddr: anyPort}) // also for the nodes of redlock
	if err != nil {
		return redisOf{}, err
	}
	redis := redisOf{addr: embedded.Addr, nodes: embedded.Nodes.Addrs(), close: embedded.Close}
	if kind == Embedded {
		return redis, nil
	}
	options := []string{"--appendonly", "no"}
	if durable {
		options = []string{"--appendonly", "yes", "--appendfsync", "always"}
	}
	addr, err := freeAddr()
	if err != nil {
		return redisOf{}, errors.Join(err, embedded.Close())
	}
	stop, err := startServer(ctx, dir, addr, options...)
	if err != nil {
		return redisOf{}, errors.Join(err, embedded.Close())
	}
	redis.addr = addr
	redis.end = func() error { return stop() }
	redis.begin = func(ctx context.Context) error {
		again, err := startServer(ctx, dir, addr, options...)
		if err == nil {
			stop = again
		}
		return err
	}
	redis.close = func() error { return errors.Join(stop(), embedded.Close()) }
	return redis, nil
}

// freeAddr gives an address of loopback that is nobody's now.
func freeAddr() (string, error) {
	listener, err := net.Listen("tcp", anyPort)
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// startServer starts a redis-server, and waits until it listens.
func startServer(ctx context.Context, dir, addr string, options ...string) (stop func() error, err error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, ErrNoRedis
	}
	_, port, _ := net.SplitHostPort(addr)
	command := exec.Command(program, append([]string{"--bind", "127.0.0.1", "--port", port, "--save", ""}, options...)...)
	command.Dir = dir
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	stop = func() error {
		_ = command.Process.Kill() // what it holds is nobody's; it may have ended
		_ = command.Wait()         // says that it was killed
		return nil
	}
	ready := make(chan error, 1)
	go func() { ready <- untilReady(stdout) }()
	select {
	case err = <-ready:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("redis-server on %s: %w", addr, err), stop())
	}
	return stop, nil
}

// untilReady reads what a server says until it listens, and lets the rest go.
func untilReady(log io.Reader) error {
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return fmt.Errorf("it ended at once: %w", err)
		}
		if strings.Contains(line, "Ready to accept connections") {
			go func() { _, _ = io.Copy(io.Discard, lines) }() // or it would block on its log; it ends with the server
			return nil
		}
	}
}
