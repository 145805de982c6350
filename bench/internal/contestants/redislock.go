package contestants

import (
	"context"

	"github.com/bsm/redislock"

	"lockstep/internal/lock"
)

func openRedislock(env Env) (Seller, error) {
	client := newClient(env, env.DialLock, env.Addrs[0])
	locker := redislock.New(client)
	return lockedSeller{
		lock: func(ctx context.Context) (lease, error) {
			ctx, cancel := context.WithTimeout(ctx, env.WaitTimeout)
			defer cancel()
			held, err := locker.Obtain(ctx, lock.Key, env.TTL, &redislock.Options{RetryStrategy: redislock.LinearBackoff(env.RetryPause)})
			if err != nil {
				return lease{}, err
			}
			return lease{unlock: held.Release}, nil
		},
		stock: openStock(env),
		close: client.Close,
	}, nil
}
