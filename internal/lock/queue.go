package lock

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// Queue lets the callers of one process take turns, first come, first served. It is safe for concurrent use.
type Queue struct {
	clock Clock

	mu      sync.Mutex
	taken   bool // somebody has the turn
	waiters []*waiter
}

type waiter struct {
	called chan struct{} // closed when the wait is over
	err    error         // why it is over without the turn
}

// NewQueue makes an empty queue, whose waiters wait on this clock.
func NewQueue(clock Clock) *Queue { return &Queue{clock: clock} }

// Enter waits for the turn. It fails with ctx's cause when ctx ends first, or with the error that Dismiss was given.
func (q *Queue) Enter(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w := q.join()
	if w == nil {
		return nil
	}
	if err := q.clock.Wait(ctx, w.called); err != nil && q.quit(w) {
		return cmp.Or(context.Cause(ctx), err)
	}
	return w.err // also when it was called while it left: then it has the turn
}

// TryEnter takes the turn if nobody has it.
func (q *Queue) TryEnter() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.taken {
		return false
	}
	q.taken = true
	return true
}

// Waiting returns how many wait for the turn.
func (q *Queue) Waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiters)
}

// Pass is for who has the turn: it gives the turn to the first waiter, or reports false if there is none.
func (q *Queue) Pass() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiters) == 0 {
		return false
	}
	close(q.waiters[0].called)
	q.waiters = q.waiters[1:]
	return true
}

// End is for who has the turn: it ends the turn, or reports false if somebody waits for it.
func (q *Queue) End() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiters) > 0 {
		return false
	}
	q.taken = false
	return true
}

// Dismiss is for who has the turn: it sends all waiters away with err.
func (q *Queue) Dismiss(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, w := range q.waiters {
		w.err = err
		close(w.called)
	}
	q.waiters = nil
}

// join takes the turn and gives nil, or gives a place in the queue.
func (q *Queue) join() *waiter {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.taken {
		q.taken = true
		return nil
	}
	w := &waiter{called: make(chan struct{})}
	q.waiters = append(q.waiters, w)
	return w
}

// quit gives up w's place, or reports false if w was called already.
func (q *Queue) quit(w *waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiters, w)
	if i < 0 {
		return false
	}
	q.waiters = slices.Delete(q.waiters, i, i+1)
	return true
}
