package lock

import (
	"context"
	"errors"
	"time"
)

// Poll makes a Lock of a TryLock: it calls try until the lock is no longer held by another, pausing for
// opts.RetryInterval in between (the original write-up's "sleep 20 ms and again"). Any other error ends it: Redis being
// gone is not a lock being held.
func Poll[T any](ctx context.Context, opts Options, try func() (T, error)) (obtained T, err error) {
	return PollAt(ctx, opts, func() time.Duration { return opts.RetryInterval }, try)
}

// PollAt is Poll with pauses that differ.
func PollAt[T any](ctx context.Context, opts Options, pause func() time.Duration, try func() (T, error)) (obtained T, err error) {
	wait, stop := WithTimeout(ctx, opts.Clock, opts.WaitTimeout, ErrTimeout)
	defer stop()
	between := context.WithValue(wait, retry{}, true)
	for wait.Err() == nil {
		obtained, err = try()
		if !errors.Is(err, ErrNotObtained) {
			return obtained, err
		}
		opts.notifyRefused()
		_ = Sleep(between, opts.Clock, pause()) // the loop looks at wait itself
	}
	return obtained, WaitError(wait, opts.WaitTimeout)
}

type retry struct{}

// IsRetry is for a Clock. It reports whether a wait with this context is a pause of Poll: the next attempt is the one that has just failed,
// so that it makes no difference before something has changed.
func IsRetry(ctx context.Context) bool { return ctx.Value(retry{}) != nil }
