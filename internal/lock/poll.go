package lock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Poll makes a Lock of a TryLock: it calls try until the lock is no longer held by another, pausing for
// opts.RetryInterval in between (the original write-up's "sleep 20 ms and again"). Any other error ends it: Redis being
// gone is not a lock being held.
func Poll(ctx context.Context, opts Options, try func() (*Lease, error)) (*Lease, error) {
	wait, stop := WithTimeout(ctx, opts.Clock, opts.WaitTimeout, ErrTimeout)
	defer stop()
	for wait.Err() == nil {
		lease, err := try()
		if !errors.Is(err, ErrNotObtained) {
			return lease, err
		}
		_ = Sleep(wait, opts.Clock, opts.RetryInterval) // the loop looks at wait itself
	}
	return nil, WaitError(wait, opts.WaitTimeout)
}

// WaitError says why a wait under a context made for this timeout ended: ErrTimeout or ErrCancelled.
func WaitError(wait context.Context, timeout time.Duration) error {
	cause := context.Cause(wait)
	if errors.Is(cause, ErrTimeout) {
		return fmt.Errorf("%w after %v", ErrTimeout, timeout)
	}
	return fmt.Errorf("%w: %w", ErrCancelled, cause)
}
