package explore_test

import (
	"context"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
	"lockstep/internal/verdict"
)

// ticketLock serves the sales of a process in the order of their tickets. Who is not next sends nothing.
type ticketLock struct {
	client redis.Cmdable
	opts   lock.Options

	mu            sync.Mutex
	next, serving int
}

func newTicketLock(p strategy.Parts) lock.Locker {
	return &ticketLock{client: p.Client, opts: p.Options}
}

func (l *ticketLock) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	l.mu.Lock()
	ticket := l.next
	l.next++
	l.mu.Unlock()
	return lock.Poll(ctx, l.opts, func() (*lock.Lease, error) {
		l.mu.Lock()
		isNext := l.serving == ticket
		l.mu.Unlock()
		if !isNext {
			return nil, lock.ErrNotObtained
		}
		release := deletes(l.client, l.opts, compareAndDelete, owner)
		return lock.NewLease(ctx, l.opts.Clock, 0, func(ctx context.Context) error {
			l.mu.Lock()
			l.serving++
			l.mu.Unlock()
			return release(ctx)
		}), setNX(ctx, l.client, l.opts, owner)
	})
}

func (l *ticketLock) TryLock(context.Context, string) (*lock.Lease, error) {
	return nil, lock.ErrNotObtained
}

// Waiters that look into the memory of their process alone do not keep each other awake.
func TestTicketsInMemoryAreExplored(t *testing.T) {
	goal := explore.Goal{Anomalies: []explore.Anomaly{anomaly.Starved, anomaly.TwoHolders, anomaly.Stuck}}
	result, err := explore.Explore(t.Context(), strategy.Strategy{Name: "mine", New: newTicketLock}, actorsIn(3, 1, ""), goal,
		explore.Bounds{Schedules: 20_000})
	if err != nil || result.Verdict() != verdict.Holds {
		t.Errorf("got %s after %d schedules, %v; want holds", result.Verdict(), result.Schedules, err)
	}
}

// knockLock has waiters that knock: while a sale of their process has the lock, they send nothing, and from their third attempt on leave a
// note. Once a sale meets that note at its release, the lock is taken forever.
type knockLock struct {
	client        redis.Cmdable
	opts          lock.Options
	held, knocked bool
}

func newKnockLock(p strategy.Parts) lock.Locker { return &knockLock{client: p.Client, opts: p.Options} }

func (l *knockLock) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	attempts := 0
	return lock.Poll(ctx, l.opts, func() (*lock.Lease, error) {
		if attempts++; l.held {
			l.knocked = attempts > 2
			return nil, lock.ErrNotObtained
		}
		if err := setNX(ctx, l.client, l.opts, owner); err != nil {
			return nil, err
		}
		l.held = true
		release := deletes(l.client, l.opts, compareAndDelete, owner)
		return lock.NewLease(ctx, l.opts.Clock, 0, func(ctx context.Context) error {
			l.held = false // from now on, nobody knocks
			err := release(ctx)
			l.held = l.knocked
			return err
		}), nil
	})
}

func (l *knockLock) TryLock(context.Context, string) (*lock.Lease, error) {
	return nil, lock.ErrNotObtained
}

// An attempt that sends nothing, but changes the memory of its process, is part of the state.
func TestSilentAttemptThatChangesMemoryIsExplored(t *testing.T) {
	goal := explore.Goal{Anomalies: []explore.Anomaly{anomaly.Stuck}}
	result, err := explore.Explore(t.Context(), strategy.Strategy{Name: "mine", New: newKnockLock}, actorsIn(2, 1, ""), goal, explore.Bounds{})
	if err != nil || result.Verdict() != verdict.Broken {
		t.Errorf("got %s after %d schedules, %v; want broken", result.Verdict(), result.Schedules, err)
	}
}
