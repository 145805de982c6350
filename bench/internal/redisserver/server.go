// Package redisserver starts real Redis servers to measure on, and asks them what they did.
package redisserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"time"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/stage/redisserver"
)

// patience is how long a server may take to start.
const patience = 20 * time.Second

// Server is a process of a Redis server on a loopback port of its own, empty, which keeps nothing.
type Server struct {
	Addr string

	dir     string
	process *os.Process
	ended   chan struct{}
}

// Start starts a server and waits until it answers. It fails with redisserver.ErrNone, or if it does not answer.
func Start(ctx context.Context) (*Server, error) {
	program, err := redisserver.Find()
	if errors.Is(err, redisserver.ErrNone) {
		return nil, fmt.Errorf("%w; install one, or name one that runs by --redis host:port", err)
	}
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, fmt.Errorf("a port for redis-server: %w", err)
	}
	dir, err := os.MkdirTemp("", "bench-redis-")
	if err != nil {
		return nil, fmt.Errorf("a directory for redis-server: %w", err)
	}
	command := exec.Command(program, "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no",
		"--maxclients", "10000", "--dir", dir)
	command.Stdout, command.Stderr = io.Discard, io.Discard
	if err := command.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("redis-server: %w", err), os.RemoveAll(dir))
	}
	s := &Server{Addr: net.JoinHostPort("127.0.0.1", port), dir: dir, process: command.Process, ended: make(chan struct{})}
	go func() {
		_ = command.Wait() // it is killed, or says by not answering that it ended
		close(s.ended)
	}()
	if err := s.answers(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// answers waits until the server does.
func (s *Server) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client := redisclient.Single(redisclient.Config{Addrs: []string{s.Addr}})
	defer func() { _ = client.Close() }() // it has done its work
	for {
		err := client.Ping(ctx).Err()
		if err == nil {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("redis-server on %s ended at once: %w", s.Addr, err)
		case <-ctx.Done():
			return fmt.Errorf("redis-server on %s does not answer: %w", s.Addr, err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Stop ends the server and removes what it left.
func (s *Server) Stop() error {
	_ = s.process.Kill() // it may have ended
	<-s.ended
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("after redis-server: %w", err)
	}
	return nil
}

func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, errors.Join(err, listener.Close())
}
