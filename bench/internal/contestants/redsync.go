package contestants

import (
	"context"
	"errors"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"

	"lockstep/internal/lock"
)

var errNotHeld = errors.New("redsync: the lock was not held")

func openRedsync(env Env) (Seller, error) {
	client := newClient(env, env.DialLock, env.Addrs[0])
	sync := redsync.New(goredis.NewPool(client))
	return lockedSeller{
		lock: func(ctx context.Context) (lease, error) {
			ctx, cancel := context.WithTimeout(ctx, env.WaitTimeout)
			defer cancel()
			mutex := sync.NewMutex(lock.Key, redsync.WithExpiry(env.TTL), redsync.WithRetryDelay(env.RetryPause),
				redsync.WithTries(int(env.WaitTimeout/env.RetryPause)))
			if err := mutex.LockContext(ctx); err != nil {
				return lease{}, err
			}
			return lease{unlock: func(ctx context.Context) error {
				held, err := mutex.UnlockContext(ctx)
				if err == nil && !held {
					err = errNotHeld
				}
				return err
			}}, nil
		},
		stock: openStock(env),
		close: client.Close,
	}, nil
}
