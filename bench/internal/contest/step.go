package contest

import (
	"context"
	"crypto/rand"
	"errors"
	mathrand "math/rand/v2"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/evolution"
	"lockstep/internal/lock"
	"lockstep/internal/service"
)

// maxPasses is the default of lock.max_passes.
const maxPasses = 64

// lockNodes is how many servers a lock on several has, beside the stock's.
const lockNodes = 5

// step is a step of the evolution, by its name there.
func step(name string) Contestant {
	c := Contestant{Name: name, Kind: Ours}
	strategy, err := evolution.Find(name)
	c.What = strategy.Title
	if strategy.OnNodes() {
		c.Nodes = 1 + lockNodes
	}
	if strategy.Way != service.ReadThenWrite {
		c.Kind = Lockless
	}
	c.Open = func(env Env) (Seller, error) {
		switch {
		case err != nil:
			return nil, err
		case c.Kind == Lockless:
			return openUnlocked(strategy, env), nil
		}
		return openStep(strategy, env), nil
	}
	return c
}

func openStep(strategy evolution.Strategy, env Env) Seller {
	client := newClient(env, env.Addrs[0])
	var nodes []redis.Cmdable
	var closers []func() error
	for _, addr := range env.Addrs[1:] {
		node := newClient(env, addr)
		nodes, closers = append(nodes, node), append(closers, node.Close)
	}
	bell := dao.NewBell(client)
	closers = append(closers, bell.Close, client.Close)
	locker := strategy.Locker(client, nodes, lock.Options{
		Key: lock.Key, TTL: env.TTL, RetryInterval: env.Retry, WaitTimeout: env.Wait, Clock: lock.SystemClock{},
		Process: env.Process, MaxPasses: maxPasses, Bell: bell, Rand: mathrand.Int64N,
	})
	return locked{
		lock: func(ctx context.Context) (lease, error) {
			held, err := locker.Lock(ctx, lock.Owner(rand.Text()))
			if err != nil {
				return lease{}, err
			}
			return lease{token: held.Token(), unlock: held.Unlock}, nil
		},
		stock: openStock(env),
		close: func() error {
			var errs []error
			for _, c := range closers {
				errs = append(errs, c())
			}
			return errors.Join(errs...)
		},
	}
}
