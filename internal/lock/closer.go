package lock

import (
	"context"
	"errors"
)

// Closer is a Locker that keeps something between leases: a subscription, or the lock itself. Close gives it back; it is called when no
// lease of the locker is held and none will be asked for. It fails as Lease.Unlock does.
type Closer interface {
	Close(ctx context.Context) error
}

// Close closes a locker that keeps something. A lock that is gone by then is as good as one given back.
func Close(ctx context.Context, clock Clock, locker Locker) error {
	closer, keeps := locker.(Closer)
	if !keeps {
		return nil
	}
	err := WithDetachedTimeout(ctx, clock, closer.Close)
	if errors.Is(err, ErrExpired) || errors.Is(err, ErrNotOwner) {
		return nil
	}
	return err
}
