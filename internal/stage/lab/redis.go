package lab

import (
	"context"
	"errors"
	"fmt"
	"net"

	"lockstep/internal/dao"
	"lockstep/internal/language"
	"lockstep/internal/stage/redisserver"
	"lockstep/internal/stage/replica"
)

// Kind says which Redis a lab runs on.
type Kind string

// The kinds.
const (
	Embedded Kind = "embedded" // in this process
	Real     Kind = "real"     // a redis-server of the lab's own
)

// In says it in a language.
func (k Kind) In(in language.Language) string {
	if k == Embedded {
		return language.Both(string(k), "内嵌").In(in)
	}
	return language.Both(string(k), "真实").In(in)
}

// master is a Redis of one run, with the stock, or a node of redlock.
type master interface {
	Addr() string
	Restart(ctx context.Context) error // without what it held, at the same address
}

// redisOf are the Redis servers of one run.
type redisOf struct {
	master                       // with the stock
	real     *redisserver.Server // the same, if it is a redis-server; nil if not
	nodes    []master            // of redlock
	spare    *redisserver.Server // the replica of the Redis with the stock, if that has one
	embedded *dao.Redis
	servers  []*redisserver.Server // all
}

// openRedis starts what a shop needs with that lock, empty, on free ports. What was started is there to be closed, also if it fails.
func openRedis(ctx context.Context, kind Kind, dir string, shop Settings, onNodes bool) (r redisOf, err error) {
	if r.embedded, err = dao.Open(ctx, dao.Config{EmbeddedAddr: replica.AnyPort}); err != nil { // also for the nodes of redlock
		return r, err
	}
	r.master = embedded{r.embedded.Addr, r.embedded.Restart}
	for _, node := range r.embedded.Nodes {
		r.nodes = append(r.nodes, embedded{node.Addr, node.Restart})
	}
	if kind == Embedded {
		return r, nil
	}
	var durable []string
	if shop.Durable {
		durable = []string{"--appendonly", "yes", "--appendfsync", "always"}
	}
	if r.real, err = r.start(ctx, dir, durable...); err != nil {
		return r, err
	}
	r.master = r.real
	if shop.Replicated {
		host, port, _ := net.SplitHostPort(r.real.Addr()) // it has both
		if r.spare, err = r.start(ctx, dir, "--replicaof", host, port); err != nil {
			return r, err
		}
	}
	for i := range r.nodes {
		if !onNodes {
			break
		}
		if r.nodes[i], err = r.start(ctx, dir); err != nil {
			return r, err
		}
	}
	return r, nil
}

// start starts a redis-server. It keeps what it holds in memory alone, unless further arguments say otherwise.
func (r *redisOf) start(ctx context.Context, dir string, arguments ...string) (*redisserver.Server, error) {
	server, err := redisserver.Start(ctx, "redis-server", dir, append([]string{
		"--save", "", "--appendonly", "no", "--dbfilename", fmt.Sprintf("%d.rdb", len(r.servers)),
		"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0",
	}, arguments...)...)
	if errors.Is(err, redisserver.ErrNone) {
		return nil, ErrNoRedis
	}
	if err == nil {
		r.servers = append(r.servers, server)
	}
	return server, err
}

// close ends all of them.
func (r *redisOf) close() error {
	for _, server := range r.servers {
		server.Kill()
	}
	if r.embedded == nil {
		return nil
	}
	return r.embedded.Close()
}

// embedded is one in this process.
type embedded struct {
	addr    string
	restart func() error
}

func (e embedded) Addr() string                  { return e.addr }
func (e embedded) Restart(context.Context) error { return e.restart() }
