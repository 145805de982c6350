package lock

import (
	"context"
	"errors"
	"time"
)

// Poll makes a Lock of a TryLock: it calls try until the lock is no longer held by another, pausing for
// opts.RetryInterval in between (the original write-up's "sleep 20 ms and again"). Any other error ends the wait: that
// Redis is gone does not mean that the lock is held.
func Poll[T any](ctx context.Context, opts Options, try func() (T, error)) (obtained T, err error) {
	return PollAt(ctx, opts, func() time.Duration { return opts.RetryInterval }, try)
}

// PollAt is Poll with a pause that is computed after each attempt.
func PollAt[T any](ctx context.Context, opts Options, pause func() time.Duration, try func() (T, error)) (obtained T, err error) {
	wait, stop := WithTimeout(ctx, opts.Clock, opts.WaitTimeout, ErrTimeout)
	defer stop()
	between := context.WithValue(wait, retryKey{}, true)
	for wait.Err() == nil {
		obtained, err = try()
		if !errors.Is(err, ErrNotObtained) {
			return obtained, err
		}
		opts.notifyRefused()
		_ = Sleep(between, opts.Clock, pause()) // The loop checks wait itself.
	}
	return obtained, WaitError(wait, opts.WaitTimeout)
}

// retryKey is the context key that marks the pauses of Poll.
type retryKey struct{}

// IsRetry reports whether a wait with this context is a pause of Poll, after which the failed attempt is repeated. The attempt cannot
// succeed until something changes. IsRetry is for implementations of Clock.
func IsRetry(ctx context.Context) bool { return ctx.Value(retryKey{}) != nil }
