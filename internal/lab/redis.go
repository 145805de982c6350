package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"lockstep/internal/dao"
	"lockstep/internal/fault"
	"lockstep/internal/strategy"
)

// Kind is the kind of Redis that a lab runs on.
type Kind string

// The kinds of Redis.
const (
	Embedded Kind = "embedded" // simulated Redis in this process
	Real     Kind = "real"     // redis-server or valkey-server, started for the lab
)

// nodes is the number of masters of redlock: as many as an embedded Redis provides.
const nodes = 5

// master is a Redis of one run: the Redis with the stock, or a node of redlock.
type master struct {
	addr    string
	restart func(ctx context.Context) error // restarts the Redis at the same address; unless it persists its data, it is empty
	real    *fault.RedisServer              // process of a real Redis; nil: embedded
}

// servers holds the Redis servers of a stage, the proxies to them, and the cleanup functions.
type servers struct {
	onNodes  bool                      // the lock is on redlock's nodes, not on the Redis with the stock
	masters  []master                  // Redis with the stock, followed by the nodes if the lock is on them
	standby  *fault.RedisServer        // Redis replica of the first master; nil: none
	proxies  map[string][]*fault.Proxy // proxies to each of the masters, by replica
	cleanups []func() error            // cleanup functions in the order of the starts; close runs them backward
}

// openRedis starts the Redis servers that the shop needs, empty and on free ports.
func (s *servers) openRedis(ctx context.Context, env Environment, kind Kind, shop Settings) error {
	if kind == Embedded {
		return s.openEmbedded(ctx, env.EmbeddedAddr)
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
		s.standby, err = s.startRedis(ctx, "--replicaof", host, port)
	}
	return err
}

// openEmbedded starts the embedded Redis, with its nodes if the lock is on them.
func (s *servers) openEmbedded(ctx context.Context, addr string) error {
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

// checkLock returns an error if the lock needs something that the Redis does not offer.
func (s *servers) checkLock(ctx context.Context, lock strategy.Strategy) error {
	redis, err := dao.Open(ctx, dao.Config{Addrs: []string{s.masters[0].addr}})
	if err != nil {
		return err
	}
	available := redis.Servers
	available.Nodes = len(s.masters) - 1
	return errors.Join(lock.CheckServers(available), redis.Close())
}

// startRedis starts a real Redis, which does not persist anything unless the arguments say otherwise.
func (s *servers) startRedis(ctx context.Context, arguments ...string) (*fault.RedisServer, error) {
	server, err := fault.StartRedis(ctx, "", "", append([]string{
		"--save", "", "--appendonly", "no", "--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0",
	}, arguments...)...)
	if errors.Is(err, fault.ErrNoRedis) {
		return nil, ErrNoRedis
	}
	if err == nil {
		s.atEnd(server.Close)
	}
	return server, err
}

// lockOn returns the index in masters of a Redis that has the lock: node, a 1-based node of redlock; for other locks 0, the Redis with the
// stock.
func (s *servers) lockOn(node int) int {
	if s.onNodes {
		return node
	}
	return 0
}

// openProxies opens a proxy to each master for each replica.
func (s *servers) openProxies(replicaCount int) error {
	for i := range replicaCount {
		name := fmt.Sprintf("r%d", i+1) // same names as in package cluster
		for _, master := range s.masters {
			proxy, err := fault.OpenProxy(master.addr)
			if err != nil {
				return err
			}
			s.atEnd(proxy.Close)
			s.proxies[name] = append(s.proxies[name], proxy)
		}
	}
	return nil
}

// command returns the command that starts a replica with only the settings of the lab.
func (s *servers) command(name, lock string, shop Settings) []string {
	var addrs []string
	for _, proxy := range s.proxies[name] {
		addrs = append(addrs, proxy.Addr())
	}
	redis := []string{"--redis.addrs=" + addrs[0], "--redis.redlock_addrs=" + strings.Join(addrs[1:], ",")}
	if shop.Job != nil {
		return append([]string{"job", "--lock=" + lock, "--every=" + tickInterval.String(), "--work=" + shop.Job.Work.String()}, redis...)
	}
	return append([]string{serve, "--server.clock_offset=" + shop.Ahead[name].String(),
		"--lock.version=" + lock, "--lock.ttl=" + cmp.Or(shop.TTL, time.Minute).String(),
		"--lock.wait_timeout=" + cmp.Or(shop.Wait, 10*time.Second).String(),
		"--sale.think_time=" + shop.Think[name].String(), fmt.Sprintf("--sale.nested=%d", shop.Nested),
		fmt.Sprintf("--inventory.initial=%d", stock)}, redis...)
}

// atEnd registers a cleanup function. Functions that are registered later run first.
func (s *servers) atEnd(end func() error) { s.cleanups = append(s.cleanups, end) }

// close runs the cleanup functions and joins their errors.
func (s *servers) close() (err error) {
	for _, end := range slices.Backward(s.cleanups) {
		err = errors.Join(err, end())
	}
	return err
}
