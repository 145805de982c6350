// Package contrast holds the strategies outside the evolution, which show what it is for: no lock at all (v0, and atomic and optimistic,
// which need none), a lock within one process, and the antipatterns of other write-ups.
//
// The antipatterns come from three write-ups in Chinese, called here by their subjects: "seven ways to lock" (in Java), "a small lock in
// Python", and "oversell, and jobs run twice" (in Node).
package contrast

import (
	"context"

	"lockstep/internal/lock"
)

// None is v0, no lock: everybody may enter at once. It is also the lock of atomic and optimistic, whose sales are right without one,
// and of non-idempotent; strategy.Update says how.
//
// Adds: nothing: GET, think, SET.
// Costs: nothing.
// Still broken: lost updates, oversell.
type None struct{ opts lock.Options }

// NewNone returns a Locker that excludes nobody.
func NewNone(opts lock.Options) *None { return &None{opts: opts} }

// Lock lets owner in; see lock.Locker.
func (n *None) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	return n.TryLock(ctx, owner)
}

// TryLock lets owner in; see lock.Locker.
func (n *None) TryLock(ctx context.Context, _ string) (*lock.Lease, error) {
	return lock.NewLease(ctx, n.opts.Clock, 0, func(context.Context) error { return nil }), nil
}
