// Package lock defines the contract of every strategy: Locker, Lease, and the errors of both. It also holds what several steps of the
// evolution share: polling (Poll), renewal (Renewal), the local queue of v8 (Queue), the cohort of v9 and later (Cohort), and the inbox of
// v10 and v11 (Inbox). It uses no Redis client: callers pass the functions that send commands. Begin with Locker.
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

// ProcessOwner returns the owner value of a process that holds the lock for its sales, with the sale that obtained it:
// distributedLock:<process>:<uuid>.
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

// Options configures a strategy, which takes what it needs. The defaults are in config.yaml.
type Options struct {
	Key           string              // Redis key of the lock
	TTL           time.Duration       // expiry of the lock
	RetryInterval time.Duration       // pause between two attempts to take the lock
	WaitTimeout   time.Duration       // longest wait of Lock
	HandOffLimit  int                 // longest chain of hand-offs within a process
	Process       string              // name that no other process has
	Notifier      Notifier            // messages between processes
	Clock         Clock               // source of time and goroutines
	Rand          func(n int64) int64 // random number from 0 to n-1
	Refused       func()              // called whenever a waiting Lock finds the lock held by another process; may be nil
}

// notifyRefused calls Refused, if there is one.
func (o Options) notifyRefused() {
	if o.Refused != nil {
		o.Refused()
	}
}

// Notifier passes messages from one process to another. A message may come late, or never, and a subscriber may be notified for nothing.
type Notifier interface {
	// Subscribe calls notify with whatever is published to the channel, and with "" when a message may have been missed, until
	// unsubscribe is called; a call that has begun by then goes on. Subscribe and unsubscribe may be called under a mutex that
	// notify takes, and by notify itself.
	Subscribe(channel string, notify func(message string)) (unsubscribe func())
}

// unlockTimeout bounds an Unlock, which no context can cancel. Five seconds are longer than any reply that is still useful.
const unlockTimeout = 5 * time.Second

// WithDetachedTimeout calls f with a context that ends after unlockTimeout, and does not end with ctx. It is for releasing things.
func WithDetachedTimeout(ctx context.Context, clock Clock, f func(context.Context) error) error {
	ctx, stop := WithTimeout(context.WithoutCancel(ctx), clock, unlockTimeout, ErrUnavailable)
	defer stop()
	return f(asHolder(ctx))
}

// holderKey is the context key that marks the commands of a holder of the lock.
type holderKey struct{}

// asHolder returns a context whose commands are those of a holder of the lock.
func asHolder(ctx context.Context) context.Context { return context.WithValue(ctx, holderKey{}, true) }

// IsFromHolder reports whether a command under ctx is a renewal or a release by a holder of the lock. Waiters depend on these commands, so
// they should not queue behind those of waiters.
func IsFromHolder(ctx context.Context) bool { return ctx.Value(holderKey{}) != nil }

// Lease is a lock held. It is safe for concurrent use.
type Lease struct {
	ctx    context.Context //nolint:containedctx // a lease is a stretch of time in which work may run: that is what a context is
	token  int64           // fencing token; 0: none
	clock  Clock
	unlock func(context.Context) error // releases the lock in Redis
	lose   func()                      // records that the lock is lost; nil: the lock has no renewal

	mu       sync.Mutex
	released bool // true: the lock was released, or may have been
}

// NewLease returns the lease of a lock that was just obtained; it is for implementations of Locker. Lease.Unlock calls unlock with a
// context that does not end with the caller's.
func NewLease(ctx context.Context, clock Clock, token int64, unlock func(context.Context) error) *Lease {
	return &Lease{ctx: ctx, token: token, clock: clock, unlock: unlock}
}

// Context returns the context for the work under the lock. If the lock can notice its loss, the context then ends with the cause ErrLost;
// otherwise it is the caller's own context.
func (l *Lease) Context() context.Context { return l.ctx }

// Token returns the fencing token, which grows from holder to holder; 0 where the lock has none.
func (l *Lease) Token() int64 { return l.token }

// WithUnlock returns the same lease with another unlock function, for a Locker that wraps another.
func (l *Lease) WithUnlock(unlock func(context.Context) error) *Lease {
	return &Lease{ctx: l.ctx, token: l.token, clock: l.clock, unlock: unlock, lose: l.lose}
}

// Lose reports that the lock is lost, for example because a store has seen a larger token. If the lock has a renewal, Context then ends
// with the cause ErrLost, and the process takes the lock again before its next sale.
func (l *Lease) Lose() {
	if l.lose != nil {
		l.lose()
	}
}

// Unlock releases the lock, even when ctx has ended: a cancelled request must not leave its lock behind.
// It fails with ErrExpired if the lock was gone already, with ErrNotOwner if another owner has it by now or this lease was released
// before, and with ErrUnavailable or ErrOutcomeUnknown if Redis fails. A lock that cannot distinguish the first two returns ErrNotOwner.
func (l *Lease) Unlock(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released {
		return ErrNotOwner
	}
	err := WithDetachedTimeout(ctx, l.clock, l.unlock)
	l.released = !errors.Is(err, ErrUnavailable) // An Unlock without an effect may be repeated.
	return err
}
