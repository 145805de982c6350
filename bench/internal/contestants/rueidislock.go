package contestants

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"

	"lockstep/internal/lock"
)

// openRueidislock opens rueidislock with one key, as the other locks have; its default is two of three keys. Its buyers do not poll: Redis
// notifies them of changes. The retry pause is its TryNextAfter, the time limit of an attempt; that is its default, too.
func openRueidislock(noLoop bool) func(Env) (Seller, error) {
	return func(env Env) (Seller, error) {
		locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
			KeyMajority: 1, KeyValidity: env.TTL, TryNextAfter: env.RetryPause, NoLoopTracking: noLoop,
			ClientOption: rueidis.ClientOption{
				InitAddress: env.Addrs[:1],
				DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
					return env.DialLock(ctx, "tcp", addr)
				},
			},
		})
		if err != nil {
			return nil, fmt.Errorf("rueidislock: %w", err)
		}
		return lockedSeller{
			lock: func(ctx context.Context) (lease, error) {
				ctx, cancel := context.WithTimeout(ctx, env.WaitTimeout)
				_, unlock, err := locker.WithContext(ctx, lock.Key)
				if err != nil {
					cancel()
					return lease{}, err
				}
				return lease{unlock: func(context.Context) error {
					unlock()
					cancel()
					return nil
				}}, nil
			},
			stock: openStock(env),
			close: func() error {
				locker.Close()
				return nil
			},
		}, nil
	}
}
