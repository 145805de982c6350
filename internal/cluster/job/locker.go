package job

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-co-op/gocron/v2"

	"lockstep/internal/lock"
)

// The ways in which Locker refuses a tick, beside those of lock.Locker.
var (
	ErrLate   = errors.New("too late for this tick")
	ErrClosed = errors.New("this replica is ending")
)

// Locker is the gocron.Locker of one job, made of one of our locks. To gocron any error of Lock means "not now".
//
// Adds: an attempt that does not wait; a lock that is kept for a part of the tick, however quick the job is (see Every).
// What it does not give: gocron's Lock can only be unlocked, so a job is not told when its lock is lost, and sees no fencing token;
// what it writes must be correct even if it is written twice. A replica that is paused between the lock and the job runs it late. If a
// replica dies after it took the lock, its tick is not run; if the lock has no expiry, no later tick is run either.
type Locker struct {
	every   Every
	clock   lock.Clock
	newID   func() string
	locker  lock.Locker
	trouble func(error)

	keeps context.Context //nolint:containedctx // it ends when nothing is to be kept any longer
	hurry func()          // ends it
	ours  sync.WaitGroup  // leases that may be this process's

	mu     sync.Mutex
	closed bool
}

// NewLocker makes the Locker of a job that runs every so often. The expiry of its lock should be every.Expiry. newID names the lock's
// owners. trouble is told of each lease that could not be given back.
func NewLocker(every Every, clock lock.Clock, newID func() string, locker lock.Locker, trouble func(error)) *Locker {
	keeps, hurry := context.WithCancel(context.Background())
	return &Locker{every: every, clock: clock, newID: newID, locker: locker, trouble: trouble, keeps: keeps, hurry: hurry}
}

// Lock implements gocron.Locker. It fails with ErrLate, ErrClosed, or as TryLock does: at every tick all replicas but one get
// lock.ErrNotObtained.
func (l *Locker) Lock(ctx context.Context, key string) (gocron.Lock, error) {
	if err := l.enter(); err != nil {
		return nil, err
	}
	lease, err := l.locker.TryLock(ctx, key+":"+l.newID())
	if err != nil {
		l.ours.Done()
		return nil, err
	}
	now := l.clock.Now()
	if l.every.Late(now) { // only now is it known: the answer may have taken its time
		defer l.ours.Done()
		return nil, errors.Join(ErrLate, lease.Unlock(ctx))
	}
	return &held{l, lease, now}, nil
}

// enter counts one more lease that may be held.
func (l *Locker) enter() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	l.ours.Add(1)
	return nil
}

// Close gives back what is held: when its time has come, or at once when ctx ends; and then what the lock keeps. It is called once.
func (l *Locker) Close(ctx context.Context) {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	defer context.AfterFunc(ctx, l.hurry)()
	l.ours.Wait()
	if err := lock.Close(ctx, l.clock, l.locker); err != nil {
		l.trouble(fmt.Errorf("giving back the lock: %w", err))
	}
}

// held is a lock that one of our replicas has.
type held struct {
	*Locker
	lease *lock.Lease
	since time.Time
}

// Unlock implements gocron.Lock. It does not wait: the lock is given back when it has been kept for long enough.
func (h *held) Unlock(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	h.clock.Go("unlock", func() {
		defer h.ours.Done()
		h.giveBack(ctx)
	})
	return nil
}

// giveBack attempts to unlock until Redis answers: some locks do not expire.
func (h *held) giveBack(ctx context.Context) {
	for until := h.since.Add(h.every.Keep()); ; until = until.Add(time.Duration(h.every)) {
		hurried := lock.Sleep(h.keeps, h.clock, until.Sub(h.clock.Now())) != nil
		err := h.lease.Unlock(ctx)
		if err != nil {
			h.trouble(fmt.Errorf("giving back the lock: %w", err))
		}
		if hurried || !errors.Is(err, lock.ErrUnavailable) {
			return
		}
	}
}
