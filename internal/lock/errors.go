package lock

import (
	"context"
	"errors"
)

// The ways a lock fails, to be matched with errors.Is.
var (
	ErrNotObtained    = errors.New("the lock is held by another")
	ErrTimeout        = errors.New("the wait for the lock timed out")
	ErrCancelled      = errors.New("the wait for the lock was cancelled")
	ErrUnavailable    = errors.New("redis is unavailable")
	ErrOutcomeUnknown = errors.New("redis did not answer: the outcome is unknown")
	ErrNotOwner       = errors.New("the lock is not ours")
	ErrExpired        = errors.New("the lock was gone already: it expired, or another deleted it")
	ErrLost           = errors.New("the lock was lost")
)

// Undo gives back a lock that may have been obtained by a command that failed with err, if its outcome is unknown: a lock
// that knows its owner need not be left behind. It returns err.
func Undo(ctx context.Context, clock Clock, err error, unlock func(context.Context) error) error {
	if errors.Is(err, ErrOutcomeUnknown) {
		_ = WithDetachedTimeout(ctx, clock, unlock) // what it could say is said by err
	}
	return err
}
