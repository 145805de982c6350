package lock

import (
	"context"
	"time"
)

// Clock is the source of a lock's time, and starts and suspends its goroutines. Because nothing bypasses it, virtual time can drive a lock,
// and the explorer can tell a waiting goroutine from a working one.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f once after d, unless the timer is stopped before, like time.AfterFunc.
	AfterFunc(d time.Duration, f func()) Timer
	// Go calls f in a new goroutine. Schedules show the name, as in A.renewal.
	Go(name string, f func())
	// Wait receives from ch. It fails with ctx's error when ctx ends first.
	Wait(ctx context.Context, ch <-chan struct{}) error
}

// Timer is a pending call. Stop prevents it, and reports whether it did.
type Timer interface{ Stop() bool }

// SystemClock is the machine's clock. Durations between two calls of Now are monotonic.
type SystemClock struct {
	Ahead time.Duration // how far the clock is ahead, for tests of wrong clocks; 0: it is correct
}

// Now returns the machine's time plus Ahead.
func (c SystemClock) Now() time.Time { return time.Now().Add(c.Ahead) }

// AfterFunc calls time.AfterFunc.
func (SystemClock) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }

// Go starts a goroutine.
func (SystemClock) Go(_ string, f func()) { go f() }

// Wait receives from ch, or returns ctx's error.
func (SystemClock) Wait(ctx context.Context, ch <-chan struct{}) error {
	select {
	case <-ch:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Sleep pauses for d. If ctx ends first, it returns ctx's error.
func Sleep(ctx context.Context, clock Clock, d time.Duration) error {
	if d <= 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	over := make(chan struct{})
	timer := clock.AfterFunc(d, func() { close(over) })
	defer timer.Stop()
	return clock.Wait(ctx, over)
}

// WithTimeout is context.WithTimeoutCause on a given clock. The caller must call the returned function.
func WithTimeout(ctx context.Context, clock Clock, d time.Duration, cause error) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := clock.AfterFunc(d, func() { cancel(cause) })
	return ctx, func() {
		timer.Stop()
		cancel(context.Canceled)
	}
}
