// Package withoutalock solves exercise 17.
//
// Cure: the store reads and writes in one step, and no lock is needed.
package withoutalock

import (
	"context"

	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// Strategy is what the check explores: a lock, and how the sale updates the stock.
func Strategy() strategy.Strategy { return strategy.Strategy{New: New, Update: strategy.Atomic} }

// Locker is no lock: everybody may enter.
type Locker struct{ opts lock.Options }

// New makes it.
func New(p strategy.Parts) lock.Locker { return &Locker{opts: p.Options} }

// Lock lets everybody in.
func (l *Locker) Lock(ctx context.Context, _ string) (*lock.Lease, error) {
	return lock.NewLease(ctx, l.opts.Clock, 0, func(context.Context) error { return nil }), nil
}

// TryLock lets everybody in.
func (l *Locker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	return l.Lock(ctx, owner)
}
