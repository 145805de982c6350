package lab

import (
	"context"
	"errors"
	"net"

	"lockstep/internal/dao"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/stage/redisserver"
)

// Kind says which Redis a lab runs on.
type Kind string

// The kinds.
const (
	Embedded Kind = "embedded" // in this process
	Real     Kind = "real"     // a redis-server or a valkey-server of the lab's own
)

// nodes is how many masters redlock has: as many as an embedded Redis brings with it.
const nodes = 5

// master is a Redis of one run: with the stock, or a node of redlock.
type master struct {
	addr    string
	restart func(ctx context.Context) error // without what it held, at the same address
	real    *redisserver.Server             // the same, if it is a process of its own; nil if not
}

// openRedis starts what the shop needs, empty, on free ports.
func (s *Stage) openRedis(ctx context.Context, place Place, kind Kind, shop Settings) error {
	if kind == Embedded {
		return s.openEmbedded(ctx, place.Redis)
	}
	count, arguments := 1, []string(nil)
	if s.onNodes {
		count += nodes
	}
	if shop.Durable {
		arguments = []string{"--appendonly", "yes", "--appendfsync", "always"}
	}
	for range count {
		server, err := s.startRedis(ctx, arguments...)
		if err != nil {
			return err
		}
		s.masters = append(s.masters, master{server.Addr(), server.Restart, server})
	}
	if !shop.Replicated {
		return nil
	}
	host, port, err := net.SplitHostPort(s.masters[0].addr)
	if err == nil {
		s.spare, err = s.startRedis(ctx, "--replicaof", host, port)
	}
	return err
}

func (s *Stage) openEmbedded(ctx context.Context, addr string) error {
	redis, err := dao.Open(ctx, dao.Config{EmbeddedAddr: addr})
	if err != nil {
		return err
	}
	s.atEnd(redis.Close)
	s.masters = []master{{addr: redis.Addr, restart: func(context.Context) error { return redis.Restart() }}}
	for _, node := range redis.Nodes {
		if s.onNodes {
			s.masters = append(s.masters, master{addr: node.Addr, restart: func(context.Context) error { return node.Restart() }})
		}
	}
	return nil
}

// fits fails if a lock needs what the Redis does not have.
func (s *Stage) fits(ctx context.Context, lock strategy.Strategy) error {
	redis, err := dao.Open(ctx, dao.Config{Addrs: []string{s.masters[0].addr}})
	if err != nil {
		return err
	}
	there := redis.Servers
	there.Nodes = len(s.masters) - 1
	return errors.Join(lock.Fits(there), redis.Close())
}

// startRedis starts a real Redis. It keeps what it holds in memory alone, unless further arguments say otherwise.
func (s *Stage) startRedis(ctx context.Context, arguments ...string) (*redisserver.Server, error) {
	server, err := redisserver.Start(ctx, "", "", append([]string{
		"--save", "", "--appendonly", "no", "--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0",
	}, arguments...)...)
	if errors.Is(err, redisserver.ErrNone) {
		return nil, ErrNoRedis
	}
	if err == nil {
		s.atEnd(server.Close)
	}
	return server, err
}

// lockOn gives the Redis that the lock is on: this node of redlock, counted from 1; 0, the Redis with the stock, of every other lock.
func (s *Stage) lockOn(node int) int {
	if s.onNodes {
		return node
	}
	return 0
}
