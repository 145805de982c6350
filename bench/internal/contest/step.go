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
	"lockstep/internal/strategy"
)

// maxPasses is the default of lock.hand_off_limit.
const maxPasses = 64

// lockNodes is how many servers a lock on several has, beside the stock's.
const lockNodes = 5

// step is a step of the evolution, by its name there.
func step(name string) Contestant {
	c := Contestant{Name: name, Kind: Ours}
	row, err := evolution.Find(name)
	c.What = row.Title
	if row.OnNodes {
		c.Nodes = 1 + lockNodes
	}
	if row.Update != strategy.ReadModifyWrite {
		c.Kind = Lockless
	}
	c.Open = func(env Env) (Seller, error) {
		switch {
		case err != nil:
			return nil, err
		case c.Kind == Lockless:
			return openUnlocked(row, env), nil
		}
		return openStep(row, env), nil
	}
	return c
}

func openStep(row strategy.Strategy, env Env) Seller {
	client := newClient(env, env.Addrs[0])
	var nodes []redis.Cmdable
	var closers []func() error
	for _, addr := range env.Addrs[1:] {
		node := newClient(env, addr)
		nodes, closers = append(nodes, node), append(closers, node.Close)
	}
	bell := dao.NewNotifier(client)
	closers = append(closers, bell.Close, client.Close)
	locker := row.New(strategy.Parts{
		Options: lock.Options{
			Key: lock.Key, TTL: env.TTL, RetryInterval: env.Retry, WaitTimeout: env.Wait, Clock: lock.SystemClock{},
		},
		Client: client, Nodes: nodes, Process: env.Process, HandOffLimit: maxPasses, Notifier: bell, Rand: mathrand.Int64N,
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
