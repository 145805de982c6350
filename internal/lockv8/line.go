package lockv8

import (
	"context"
	"errors"
	"slices"

	"lockstep/internal/lock"
)

// waiter is a sale that waits in this process for its turn.
type waiter struct {
	called chan struct{} // closed when the wait is over
	err    error         // why it is over without the turn
}

// turn waits in line for the turn, which one sale of this process has at a time.
func (l *Locker) turn(ctx context.Context) error {
	if ctx.Err() != nil {
		return lock.WaitError(ctx, l.opts.WaitTimeout)
	}
	w := l.joinLine()
	if w == nil {
		return nil
	}
	if l.opts.Clock.Wait(ctx, w.called) == nil {
		return w.err
	}
	l.mu.Lock()
	i := slices.Index(l.line, w)
	if i >= 0 {
		l.line = slices.Delete(l.line, i, i+1)
	}
	l.mu.Unlock()
	if i < 0 && w.err == nil { // called while it left
		_ = lock.WithDetachedTimeout(ctx, l.opts.Clock, l.unlock) // its caller asked for another error
	}
	return lock.WaitError(ctx, l.opts.WaitTimeout)
}

// joinLine takes the turn, and gives nil, or a place in line.
func (l *Locker) joinLine() *waiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.taken {
		l.taken = true
		return nil
	}
	w := &waiter{called: make(chan struct{})}
	l.line = append(l.line, w)
	return w
}

// tryTurn takes the turn if nobody has it.
func (l *Locker) tryTurn() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.taken {
		return false
	}
	l.taken = true
	return true
}

// endTurn calls the next in line, who finds no tenure. If Redis failed with err, all are told: it would fail them one by one. If
// nobody is in line, what the process still asks for in Redis is given up first.
func (l *Locker) endTurn(ctx context.Context, err error) {
	if ctx.Err() == nil && (errors.Is(err, lock.ErrUnavailable) || errors.Is(err, lock.ErrOutcomeUnknown)) {
		l.tellAll(err)
		l.placed = false // that expires
	}
	for !l.passTurn() {
		l.placed = false
		_ = lock.WithDetachedTimeout(ctx, l.opts.Clock, l.giveUp) // or it expires
	}
}

// tellAll sends those in line away with err.
func (l *Locker) tellAll(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.line {
		w.err = err
		close(w.called)
	}
	l.line = nil
}

// passTurn calls the next in line, or else ends the turn. It reports false if there is a place in Redis's queue, and nobody for it.
func (l *Locker) passTurn() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.call() {
		return true
	}
	if l.placed {
		return false
	}
	l.taken = false
	if l.unbell != nil {
		l.unbell()
		l.unbell = nil
	}
	return true
}

// callNext gives the turn to the next in line, and reports whether there is one.
func (l *Locker) callNext() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.call()
}

func (l *Locker) call() bool {
	if len(l.line) == 0 {
		return false
	}
	close(l.line[0].called)
	l.line = l.line[1:]
	return true
}

// others reports whether somebody else waits in line.
func (l *Locker) others() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.line) > 0
}
