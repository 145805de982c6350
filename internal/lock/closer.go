package lock

import (
	"context"
	"errors"
)

// Closer is implemented by a Locker that keeps something between leases: a subscription, or the lock itself. Close releases what is kept.
// It is called once no lease is held and none will be asked for, and fails as Lease.Unlock does.
type Closer interface {
	Close(ctx context.Context) error
}

// Close closes a locker that is a Closer. It does not fail if the lock that was kept is gone.
func Close(ctx context.Context, clock Clock, locker Locker) error {
	closer, ok := locker.(Closer)
	if !ok {
		return nil
	}
	err := WithDetachedTimeout(ctx, clock, closer.Close)
	if errors.Is(err, ErrExpired) || errors.Is(err, ErrNotOwner) {
		return nil
	}
	return err
}
