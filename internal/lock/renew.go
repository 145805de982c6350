package lock

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Renewal keeps one lock from expiring while its holder works, and knows when that failed.
//
// It extends the lock every third of the expiry, which leaves two more tries when one fails. A try that fails because
// Redis does is repeated until the local deadline: one expiry after the last command that succeeded was *sent*, by the
// monotonic clock, for the lock cannot have expired before. At the deadline, or when the lock turns out to be another's,
// the lock is lost, and every context made by Guard ends with cause ErrLost.
type Renewal struct {
	opts   Options
	extend func(context.Context) error // sets the expiry again
	stop   context.CancelFunc          // ends the goroutine
	done   chan struct{}               // closed when the goroutine has ended

	mu       sync.Mutex
	sent     time.Time                                   // send time of the last successful command; zero once the lock is lost
	deadline Timer                                       // fires one expiry after sent
	guarded  map[context.Context]context.CancelCauseFunc // contexts to end when the lock is lost
}

// StartRenewal starts to renew a lock; sent is when the command that took it was sent. extend sets the expiry again, and fails with
// ErrNotOwner when another owner holds the lock. Stop ends the renewal.
func StartRenewal(opts Options, sent time.Time, extend func(context.Context) error) *Renewal {
	ctx, stop := context.WithCancel(context.Background())
	r := &Renewal{opts: opts, extend: extend, stop: stop, done: make(chan struct{}), guarded: map[context.Context]context.CancelCauseFunc{}}
	r.expireAfter(sent)
	opts.Clock.Go("renewal", func() { r.run(asHolder(ctx)) })
	return r
}

// Guard returns a context that also ends when the lock is lost, with the cause ErrLost. The caller must call the returned function.
func (r *Renewal) Guard(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sent.IsZero() {
		cancel(ErrLost)
	}
	r.guarded[ctx] = cancel
	return ctx, func() {
		r.mu.Lock()
		delete(r.guarded, ctx)
		r.mu.Unlock()
		cancel(context.Canceled)
	}
}

// Sent returns when the last successful command was sent, from which the expiry counts. It is zero once the lock is known to be lost.
func (r *Renewal) Sent() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent
}

// IsLost reports whether the lock is known to be lost.
func (r *Renewal) IsLost() bool { return r.Sent().IsZero() }

// Stop ends the renewal and waits until its goroutine has ended, so that no extension comes after a release.
func (r *Renewal) Stop() {
	r.stop()
	_ = r.opts.Clock.Wait(context.Background(), r.done)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.deadline.Stop()
}

// run extends the lock until ctx ends.
func (r *Renewal) run(ctx context.Context) {
	defer close(r.done)
	pause := r.opts.TTL / 3
	for Sleep(ctx, r.opts.Clock, pause) == nil {
		sent := r.opts.Clock.Now()
		switch err := r.extend(ctx); {
		case err == nil:
			r.expireAfter(sent)
			pause = r.opts.TTL / 3
		case errors.Is(err, ErrNotOwner):
			r.Lose()
		default:
			pause = min(r.opts.RetryInterval, r.opts.TTL/3)
		}
	}
}

// expireAfter moves the local deadline to one expiry after sent, unless it has passed.
func (r *Renewal) expireAfter(sent time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.deadline != nil && (r.sent.IsZero() || !r.deadline.Stop()) {
		return
	}
	r.sent = sent
	r.deadline = r.opts.Clock.AfterFunc(sent.Add(r.opts.TTL).Sub(r.opts.Clock.Now()), r.Lose)
}

// Lose ends the renewal of a lock that is known to be lost, and every guarded context.
func (r *Renewal) Lose() {
	r.stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = time.Time{}
	r.deadline.Stop()
	for _, cancel := range r.guarded {
		cancel(ErrLost)
	}
}
