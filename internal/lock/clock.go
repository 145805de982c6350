package lock

import (
	"context"
	"time"
)

// Clock is where a lock gets its time from, and where its goroutines start and wait. All of it passes through here, so that
// virtual time can drive a lock, and the explorer can tell a goroutine that waits from one that works.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f once, d from now, unless the timer is stopped before; as time.AfterFunc.
	AfterFunc(d time.Duration, f func()) Timer
	// Go calls f in a goroutine of its own. A schedule calls that by its name: A.renewal.
	Go(name string, f func())
	// Wait receives from ch. It fails with ctx's error when ctx ends first.
	Wait(ctx context.Context, ch <-chan struct{}) error
}

// Timer is a call still to come. Stop reports whether it came in time to prevent it.
type Timer interface{ Stop() bool }

// SystemClock is the machine's own time, or one that is wrong by as much as it is Ahead. Durations between two Now are taken from
// the machine's monotonic clock.
type SystemClock struct{ Ahead time.Duration }

// Now returns the time, and as much as the clock is wrong.
func (c SystemClock) Now() time.Time { return time.Now().Add(c.Ahead) }

// AfterFunc calls time.AfterFunc.
func (SystemClock) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }

// Go is the go statement.
func (SystemClock) Go(_ string, f func()) { go f() }

// Wait waits by a select.
func (SystemClock) Wait(ctx context.Context, ch <-chan struct{}) error {
	select {
	case <-ch:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Sleep pauses for d, or until ctx ends; then it returns ctx's error.
func Sleep(ctx context.Context, clock Clock, d time.Duration) error {
	if d <= 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	over := make(chan struct{})
	timer := clock.AfterFunc(d, func() { close(over) })
	defer timer.Stop()
	return clock.Wait(ctx, over)
}

// WithTimeout does what context.WithTimeoutCause does, on a given clock. The caller must call the function it returns.
func WithTimeout(ctx context.Context, clock Clock, d time.Duration, cause error) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := clock.AfterFunc(d, func() { cancel(cause) })
	return ctx, func() {
		timer.Stop()
		cancel(context.Canceled)
	}
}
