package contest

import (
	"context"
	"crypto/rand"
	"errors"

	"lockstep/internal/dao"
	"lockstep/internal/evolution"
	"lockstep/internal/lock"
)

// maxPasses is the default of lock.max_passes.
const maxPasses = 64

// step is a step of the evolution, by its name there.
func step(name string) Contestant {
	c := Contestant{Name: name, Kind: Ours}
	strategy, err := evolution.Find(name)
	c.What = strategy.Title
	c.Open = func(env Env) (Seller, error) {
		if err != nil {
			return nil, err
		}
		return openStep(strategy, env)
	}
	return c
}

func openStep(strategy evolution.Strategy, env Env) (Seller, error) {
	client := newClient(env, env.Addrs[0])
	bell := dao.NewBell(client)
	locker := strategy.New(client, lock.Options{
		Key: lock.Key, TTL: env.TTL, RetryInterval: env.Retry, WaitTimeout: env.Wait, Clock: lock.SystemClock{},
		Process: env.Process, MaxPasses: maxPasses, Bell: bell,
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
		close: func() error { return errors.Join(bell.Close(), client.Close()) },
	}, nil
}
