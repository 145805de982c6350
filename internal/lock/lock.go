// Package lock is the contract every strategy keeps: what a Locker promises, what a Lease is, which errors there are,
// and what is the same in every step from some point on: polling, renewal, the holdings of owners, the local queue of v8, and the cohort
// lock around a global one of v9 and later. It knows Redis by what a Global, a Notifier and the callers' functions do, and by no client.
package lock

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
)

// Key is the Redis key of the lock, and the prefix of its owners, as in the original write-up.
const Key = "distributedLock"

// Owner names a holder the way the original write-up does: distributedLock:<uuid>.
func Owner(id string) string { return Key + ":" + id }

// ProcessOwner names a process as a holder, and one of its holdings by the owner that obtained it: distributedLock:<process>:<uuid>.
func ProcessOwner(process, owner string) string {
	return Owner(process) + strings.TrimPrefix(owner, Key)
}

// Locker is one lock, shared by all the requests of a process.
//
// The owner is a value that the caller makes and passes down: Go has no thread id, and a nested call with the same owner
// is what a reentrant lock recognises and any other lock waits for.
type Locker interface {
	// Lock waits until owner holds the lock. It fails with ErrTimeout when the wait grows too long, ErrCancelled when ctx
	// ends first, ErrUnavailable or ErrOutcomeUnknown when Redis fails.
	Lock(ctx context.Context, owner string) (*Lease, error)
	// TryLock tries once. It fails with ErrNotObtained when another holds the lock, and otherwise as Lock does.
	TryLock(ctx context.Context, owner string) (*Lease, error)
}

// Options are what every strategy is told; each takes what it needs. Their defaults are in config.yaml.
type Options struct {
	Key           string              // the lock's Redis key
	TTL           time.Duration       // expiry of the lock, where it has one
	RetryInterval time.Duration       // pause between two attempts of a waiter
	WaitTimeout   time.Duration       // longest wait of Lock
	HandOffLimit  int                 // how often at most a process hands the lock to its own next sale while another process may wait
	Process       string              // a name that no other process has
	Notifier      Notifier            // tells processes of messages
	Clock         Clock               // where time comes from
	Rand          func(n int64) int64 // from 0 to n-1, for random pauses and ids
	Refused       func()              // called whenever a Lock that waits finds the lock held by another process; nil: nobody is told
}

// notifyRefused tells that the lock is held by another process.
func (o Options) notifyRefused() {
	if o.Refused != nil {
		o.Refused()
	}
}

// Notifier passes messages from one process to another. A message may come late, or never, and a subscriber may be notified for nothing.
type Notifier interface {
	// Subscribe calls notify with whatever is published to the channel, and with "" when a message may have been missed, until
	// unsubscribe is called; a call that has begun by then goes on. Both may be called under a mutex that notify takes, and by
	// notify itself.
	Subscribe(channel string, notify func(message string)) (unsubscribe func())
}

// unlockTimeout bounds an Unlock, whose context is nobody's to cancel.
const unlockTimeout = 5 * time.Second

// WithDetachedTimeout calls f, which gives something back, with a context that ends after unlockTimeout and not with ctx.
func WithDetachedTimeout(ctx context.Context, clock Clock, f func(context.Context) error) error {
	ctx, stop := WithTimeout(context.WithoutCancel(ctx), clock, unlockTimeout, ErrUnavailable)
	defer stop()
	return f(asHolder(ctx))
}

// holders marks a context, as context.WithValue wants it.
type holders struct{}

// asHolder marks the commands under a context as those of one that has the lock.
func asHolder(ctx context.Context) context.Context { return context.WithValue(ctx, holders{}, true) }

// IsHolders reports whether a command under ctx is of one that has the lock: a renewal or a release. Others wait for it, so it should wait
// for none of theirs.
func IsHolders(ctx context.Context) bool { return ctx.Value(holders{}) != nil }

// Lease is a lock held. It is safe for concurrent use.
type Lease struct {
	ctx    context.Context //nolint:containedctx // a lease is a stretch of time in which work may run: that is what a context is
	token  int64
	clock  Clock
	unlock func(context.Context) error
	lose   func() // nil where the lock cannot be told

	mu       sync.Mutex
	released bool
}

// NewLease is for lockers: it makes the lease of a lock just obtained. Unlock will call unlock with a context that lives
// long enough.
func NewLease(ctx context.Context, clock Clock, token int64, unlock func(context.Context) error) *Lease {
	return &Lease{ctx: ctx, token: token, clock: clock, unlock: unlock}
}

// Context returns the one to work under. Where the lock can know that it was lost, the context then ends with cause ErrLost;
// elsewhere it is the caller's own.
func (l *Lease) Context() context.Context { return l.ctx }

// Token returns the fencing token, which grows from holder to holder; 0 where the lock has none.
func (l *Lease) Token() int64 { return l.token }

// With returns the same lease, but for what Unlock calls; a wrapper of a locker needs it.
func (l *Lease) With(unlock func(context.Context) error) *Lease {
	return &Lease{ctx: l.ctx, token: l.token, clock: l.clock, unlock: unlock, lose: l.lose}
}

// Lose tells the lock that it is lost, for example when a store has seen a larger token. Where the lock can be told, Context then ends
// with cause ErrLost, and the process asks for the lock again before its next sale.
func (l *Lease) Lose() {
	if l.lose != nil {
		l.lose()
	}
}

// Unlock releases the lock, even when ctx has ended: a cancelled request must not leave its lock behind.
// It fails with ErrExpired when the lock was gone already, ErrNotOwner when it is another's by now or this lease was
// released before, ErrUnavailable or ErrOutcomeUnknown when Redis fails. A lock that cannot tell gone from another's says ErrNotOwner.
func (l *Lease) Unlock(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released {
		return ErrNotOwner
	}
	err := WithDetachedTimeout(ctx, l.clock, l.unlock)
	l.released = !errors.Is(err, ErrUnavailable) // then it had no effect, and may be tried again
	return err
}
