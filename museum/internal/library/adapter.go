package library

import (
	"context"
	"errors"

	"lockstep/locktest"
)

var (
	errTaken       = errors.New("the lock is another's")
	errNotReleased = errors.New("the lock was not released")
)

// lockFunc is a function as a lock.
type lockFunc func(ctx context.Context) (locktest.Held, error)

// Lock implements locktest.Lock.
func (l lockFunc) Lock(ctx context.Context) (locktest.Held, error) { return l(ctx) }

// unlockFunc is a function as a lock that was obtained, which tells its holder nothing.
type unlockFunc func(ctx context.Context) error

// Unlock implements locktest.Held.
func (u unlockFunc) Unlock(ctx context.Context) error { return u(ctx) }

// orNot makes an error of a release that was without effect.
func orNot(released bool, err error) error {
	if err == nil && !released {
		return errNotReleased
	}
	return err
}

// bounded is a lock that tells its holder when it ends.
type bounded struct {
	unlockFunc
	valid func() bool
}

// Valid reports whether the holder may believe that it holds the lock.
func (b bounded) Valid() bool { return b.valid() }
