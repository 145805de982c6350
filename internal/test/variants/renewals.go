package variants

import (
	"context"

	"lockstep/internal/lock"
)

// renewed makes a lease that is renewed, as v6's is.
func (p process) renewed(ctx context.Context, owner string, unlock unlock) *lock.Lease {
	renewal := lock.StartRenewal(p.Options, p.Clock.Now(), func(ctx context.Context) error {
		ours, err := p.script(ctx, `return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2]) or 0`,
			nil, owner, p.ttl)
		if err == nil && ours == 0 {
			err = lock.ErrNotOwner
		}
		return err
	})
	guarded, unguard := renewal.Guard(ctx)
	return p.lease(guarded, func(ctx context.Context) error {
		defer unguard()
		renewal.Stop()
		return unlock(ctx)
	})
}
