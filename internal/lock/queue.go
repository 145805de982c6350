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
	idle func(context.Context)
	turn chan struct{} // holds one token while nobody has the turn; Go serves those who wait for it in order

	waiting  atomic.Int64
	failures atomic.Int64 // of Redis, of which all who waited are told
	failure  error        // the last one; of the owner that has the turn

	mu    sync.Mutex
	owner string // who has the turn
	depth int    // of its calls
}

// NewQueue makes an empty queue. idle, if it is not nil, is called when a turn ends while nobody waits for the next.
func NewQueue(opts Options, idle func(context.Context)) *Queue {
	q := &Queue{opts: opts, idle: idle, turn: make(chan struct{}, 1)}
	q.turn <- struct{}{}
	return q
}

// Enter waits for owner's turn. It fails as Locker.Lock does when ctx ends first, and with the error of a turn before if Redis failed that.
func (q *Queue) Enter(ctx context.Context, owner string) error {
	if err := q.TryEnter(ctx, owner); !errors.Is(err, ErrNotObtained) {
		return err
	}
	failures := q.failures.Load()
	q.waiting.Add(1)
	err := q.opts.Clock.Wait(ctx, q.turn)
	q.waiting.Add(-1)
	if err != nil {
		if q.TryEnter(context.WithoutCancel(ctx), owner) == nil { // the turn before may have ended for us, and the queue is idle after all
			q.Leave(ctx, nil)
		}
		return WaitError(ctx, q.opts.WaitTimeout)
	}
	q.begin(owner)
	if q.failures.Load() > failures { // we would only find out the same
		defer q.Leave(ctx, nil)
		return q.failure
	}
	return nil
}

// Take obtains a lock for the owner that has the turn. The turn ends with the lease; at once, if there is none.
func (q *Queue) Take(ctx context.Context, obtain func() (*Lease, error)) (*Lease, error) {
	lease, err := obtain()
	if err != nil {
		q.Leave(ctx, err)
		return nil, err
	}
	leave := sync.OnceFunc(func() { q.Leave(ctx, nil) }) // a failed Unlock may be tried again
	return lease.With(func(ctx context.Context) error {
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
	if q.Waiting() > 0 { // behind them, also if their turn has just come
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

// Waiting returns how many wait for the turn.
func (q *Queue) Waiting() int { return int(q.waiting.Load()) }

// Leave ends a call of the owner that has the turn, and with the outermost one the turn. err is why that got no lock, or nil: if it is that
// Redis failed, it fails all who wait.
func (q *Queue) Leave(ctx context.Context, err error) {
	if !q.leave() {
		return
	}
	if ctx.Err() == nil && (errors.Is(err, ErrUnavailable) || errors.Is(err, ErrOutcomeUnknown)) {
		q.failure = err
		q.failures.Add(1)
	}
	if q.idle != nil && q.Waiting() == 0 {
		q.idle(ctx)
	}
	q.turn <- struct{}{}
}

// reenter counts one more call of owner, if it has the turn.
func (q *Queue) reenter(owner string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.depth == 0 || q.owner != owner {
		return false
	}
	q.depth++
	return true
}

func (q *Queue) begin(owner string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.owner, q.depth = owner, 1
}

// leave counts one call less, and reports whether it was the outermost.
func (q *Queue) leave() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.depth--
	return q.depth == 0
}
