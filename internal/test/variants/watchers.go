package variants

import (
	"context"
	"errors"

	"lockstep/internal/lock"
)

// How a lock is taken over, in Lua.
const (
	writesOver = `redis.call('SET', KEYS[1], ARGV[2]) return 1`
	removes    = `redis.call('DEL', KEYS[1]) return 0` // and asks again
)

// takeover is a lock without an expiry in Redis. A waiter that has seen the same holder for an expiry, by its own timer, takes over; the
// holder's lease ends a third before.
func takeover(how string) func(process) take {
	return func(p process) take {
		return func(ctx context.Context, owner string) (*lock.Lease, error) {
			seen, since := "", p.Clock.Now()
			return lock.Poll(ctx, p.Options, func() (*lock.Lease, error) {
				sent := p.Clock.Now()
				err := p.takeForGood(ctx, owner)
				if errors.Is(err, lock.ErrNotObtained) {
					holder, failed := p.text(ctx, "GET", key)
					switch {
					case failed != nil:
						return nil, failed
					case holder != seen:
						seen, since = holder, p.Clock.Now()
						return nil, err
					case p.Clock.Now().Sub(since) < p.TTL:
						return nil, err
					}
					var got int64
					got, err = p.script(ctx, `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
						`+how, nil, holder, owner)
					if err == nil {
						err = obtained(got == 1)
					}
				}
				if err != nil {
					return nil, err
				}
				during, end := context.WithCancelCause(ctx)
				timer := p.Clock.AfterFunc(p.TTL*2/3-p.Clock.Now().Sub(sent), func() { end(lock.ErrLost) })
				return p.lease(during, func(ctx context.Context) error {
					timer.Stop()
					end(context.Canceled)
					return p.release(owner)(ctx)
				}), nil
			})
		}
	}
}
