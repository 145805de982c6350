package lab

import (
	"context"
	"errors"
	"fmt"
	"net"

	"lockstep/internal/stage/redisserver"
)

// servers are the redis-server processes of one run. They keep what they write in one directory.
type servers struct {
	dir string
	all []*server
}

// server is one of them.
type server struct{ *redisserver.Server }

// start starts one more, with further arguments. It keeps what it holds in memory alone, unless they say otherwise.
func (s *servers) start(ctx context.Context, arguments ...string) (*server, error) {
	started, err := redisserver.Start(ctx, "redis-server", s.dir, append([]string{
		"--save", "", "--appendonly", "no", "--dbfilename", fmt.Sprintf("%d.rdb", len(s.all)),
		"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0",
	}, arguments...)...)
	switch {
	case errors.Is(err, redisserver.ErrNone):
		return nil, ErrNoRedis
	case err != nil:
		return nil, err
	}
	s.all = append(s.all, &server{started})
	return s.all[len(s.all)-1], nil
}

// kill kills all.
func (s *servers) kill() {
	for _, server := range s.all {
		server.Server.Kill()
	}
}

// Kill kills the process; what it holds in memory is nobody's any more.
func (s *server) Kill() error {
	s.Server.Kill()
	return nil
}

// Restart kills the process, and starts it again at the same address: empty, unless it writes down what it does.
func (s *server) Restart(ctx context.Context) error {
	s.Server.Kill()
	return s.Run(ctx)
}

// words are its address as Redis's commands take it.
func (s *server) words() (host, port string) {
	host, port, _ = net.SplitHostPort(s.Addr()) // it has both
	return host, port
}
