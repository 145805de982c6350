package lab

import (
	"context"
	"errors"

	"lockstep/internal/dao"
)

// Kind says which Redis a lab runs on.
type Kind string

// The kinds.
const (
	Embedded Kind = "embedded" // in this process
	Real     Kind = "real"     // a redis-server of the lab's own
)

// master is a Redis of one run, with the stock, or a node of redlock.
type master interface {
	Addr() string
	Restart(ctx context.Context) error // without what it held, at the same address
	Kill() error
}

// redisOf are the Redis servers of one run.
type redisOf struct {
	master          // with the stock
	real   *server  // the same, if it is a redis-server; nil if not
	nodes  []master // of redlock
	spare  *server  // the replica of the Redis with the stock, if that has one
	close  func() error
}

// openRedis starts what a shop needs with that lock, empty, on free ports.
func openRedis(ctx context.Context, kind Kind, dir string, shop Settings, onNodes bool) (redisOf, error) {
	opened, err := dao.Open(ctx, dao.Config{EmbeddedAddr: anyPort}) // also for the nodes of redlock
	if err != nil {
		return redisOf{}, err
	}
	redis := redisOf{master: embedded{addr: opened.Addr, restart: opened.Restart}, close: opened.Close}
	for _, node := range opened.Nodes {
		redis.nodes = append(redis.nodes, embedded{addr: node.Addr, restart: node.Restart})
	}
	if kind == Embedded {
		return redis, nil
	}
	servers := &servers{dir: dir}
	redis.close = func() error {
		servers.kill()
		return opened.Close()
	}
	if err := redis.useReal(ctx, servers, shop, onNodes); err != nil {
		return redisOf{}, errors.Join(err, redis.close())
	}
	return redis, nil
}

// useReal puts servers in the place of the embedded ones: nodes only for a lock that is on them.
func (r *redisOf) useReal(ctx context.Context, servers *servers, shop Settings, onNodes bool) error {
	var durable []string
	if shop.Durable {
		durable = []string{"--appendonly", "yes", "--appendfsync", "always"}
	}
	stock, err := servers.start(ctx, durable...)
	if err != nil {
		return err
	}
	r.master, r.real = stock, stock
	if shop.Replicated {
		host, port := stock.words()
		if r.spare, err = servers.start(ctx, "--replicaof", host, port); err != nil {
			return err
		}
	}
	if !onNodes {
		return nil
	}
	for i := range r.nodes {
		if r.nodes[i], err = servers.start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// embedded is one in this process.
type embedded struct {
	addr    string
	restart func() error
}

func (e embedded) Addr() string                  { return e.addr }
func (e embedded) Restart(context.Context) error { return e.restart() }
func (e embedded) Kill() error                   { return errors.ErrUnsupported }
