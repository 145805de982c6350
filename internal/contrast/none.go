// Package contrast holds the strategies that are no step of the evolution but show what it is for: no lock at all, and
// a lock that ends where the process does.
package contrast

import (
	"context"

	"lockstep/internal/lock"
)

// None is v0, no lock: everybody may enter at once.
//
// Adds: nothing; the sale is GET, think, SET.
// Costs: nothing.
// Still broken: lost updates, and so oversell.
type None struct{ opts lock.Options }

// NewNone makes the lock that is none.
func NewNone(opts lock.Options) *None { return &None{opts: opts} }

// Lock lets owner in; see lock.Locker.
func (n *None) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	return n.TryLock(ctx, owner)
}

// TryLock lets owner in; see lock.Locker.
func (n *None) TryLock(ctx context.Context, _ string) (*lock.Lease, error) {
	return lock.NewLease(ctx, n.opts, 0, func(context.Context) error { return nil }), nil
}
