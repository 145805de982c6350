package lock

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// Queue lets the owners of one process take turns, first come, first served. The nested calls of the owner that has the turn do not wait.
// It is safe for concurrent use.
type Queue struct {
	opts Options
	idle func(context.Context) // called when a turn ends while nobody waits; may be nil
	turn chan struct{}         // holds one token while nobody has the turn; Go serves those who wait for it in order

	waiting     atomic.Int64 // number of owners that wait for the turn
	failures    atomic.Int64 // number of turns that failed because of Redis
	lastFailure error        // error of the last failed turn; only the owner that has the turn may use it

	mu    sync.Mutex
	owner string // owner that has the turn
	depth int    // nested calls of that owner; 0: nobody has the turn
}

// NewQueue returns an empty queue. idle, if it is not nil, is called when a turn ends while nobody waits for the next.
func NewQueue(opts Options, idle func(context.Context)) *Queue {
	q := &Queue{opts: opts, idle: idle, turn: make(chan struct{}, 1)}
	q.turn <- struct{}{}
	return q
}

// Enter waits for owner's turn. It fails as Locker.Lock does when ctx ends first. If Redis failed an earlier turn during the wait, Enter
// returns that error.
func (q *Queue) Enter(ctx context.Context, owner string) error {
	if err := q.TryEnter(ctx, owner); !errors.Is(err, ErrNotObtained) {
		return err
	}
	failures := q.failures.Load()
	q.waiting.Add(1)
	err := q.opts.Clock.Wait(ctx, q.turn)
	q.waiting.Add(-1)
	if err != nil {
		if q.TryEnter(context.WithoutCancel(ctx), owner) == nil { // The previous turn may have ended just now, and left the queue idle.
			q.Leave(ctx, nil)
		}
		return WaitError(ctx, q.opts.WaitTimeout)
	}
	q.begin(owner)
	if q.failures.Load() > failures { // This owner would only meet the same failure.
		defer q.Leave(ctx, nil)
		return q.lastFailure
	}
	return nil
}

// Take obtains a lock for the owner that has the turn. The turn ends with the lease, or at once if obtain fails.
func (q *Queue) Take(ctx context.Context, obtain func() (*Lease, error)) (*Lease, error) {
	lease, err := obtain()
	if err != nil {
		q.Leave(ctx, err)
		return nil, err
	}
	leave := sync.OnceFunc(func() { q.Leave(ctx, nil) }) // A failed Unlock may be repeated.
	return lease.WithUnlock(func(ctx context.Context) error {
		defer leave()
		return lease.Unlock(ctx)
	}), nil
}

// TryEnter takes the turn. It fails as Locker.TryLock does if another owner has it.
func (q *Queue) TryEnter(ctx context.Context, owner string) error {
	if ctx.Err() != nil {
		return WaitError(ctx, q.opts.WaitTimeout)
	}
	if q.reenter(owner) {
		return nil
	}
	if q.Waiting() > 0 { // Waiters come first, even if the turn is free just now.
		return ErrNotObtained
	}
	select {
	case <-q.turn:
		q.begin(owner)
		return nil
	default:
		return ErrNotObtained
	}
}

// Waiting returns the number of owners that wait for the turn.
func (q *Queue) Waiting() int { return int(q.waiting.Load()) }

// Leave undoes one Enter or TryEnter; the outermost Leave ends the owner's turn. err is the reason why the owner got no lock, or nil. If
// Redis failed, all owners that wait get the same error.
func (q *Queue) Leave(ctx context.Context, err error) {
	if !q.leave() {
		return
	}
	if ctx.Err() == nil && (errors.Is(err, ErrUnavailable) || errors.Is(err, ErrOutcomeUnknown)) {
		q.lastFailure = err
		q.failures.Add(1)
	}
	if q.idle != nil && q.Waiting() == 0 {
		q.idle(ctx)
	}
	q.turn <- struct{}{}
}

// reenter counts a nested call of owner and returns true, if owner has the turn.
func (q *Queue) reenter(owner string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.depth == 0 || q.owner != owner {
		return false
	}
	q.depth++
	return true
}

// begin gives the turn to owner.
func (q *Queue) begin(owner string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.owner, q.depth = owner, 1
}

// leave ends one call, and reports whether it was the outermost.
func (q *Queue) leave() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.depth--
	return q.depth == 0
}
