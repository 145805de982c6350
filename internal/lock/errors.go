package lock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The ways a lock fails, to be matched with errors.Is.
var (
	ErrNotObtained    = errors.New("the lock is held by another")
	ErrTimeout        = WithCode("lock_timeout", "the wait for the lock timed out")
	ErrCancelled      = errors.New("the request was cancelled") // the code, if there is one, is its cause's
	ErrUnavailable    = WithCode("redis_unavailable", "redis is unavailable")
	ErrOutcomeUnknown = WithCode("redis_unavailable", "redis did not answer: the outcome is unknown")
	ErrRefused        = kindOf(ErrUnavailable, "redis refused the command")
	ErrScriptFailed   = kindOf(ErrOutcomeUnknown, "a script failed in redis, perhaps after a part of it: the outcome is unknown")
	ErrNotOwner       = errors.New("the lock is not ours")
	ErrExpired        = errors.New("the lock was gone already: it expired, or another deleted it")
	ErrLost           = WithCode("lock_lost", "the lock was lost")
)

// WithCode returns an error, to be matched with errors.Is, that programs know by a code: a word that stays as it is.
func WithCode(code, text string) error { return &coded{code: code, text: text} }

// kindOf returns an error that is also err, and has its code.
func kindOf(err error, text string) error { return &coded{CodeOf(err), text, err} }

// CodeOf returns the code of an error, or of the first that it wraps; "" if there is none.
func CodeOf(err error) string {
	var known *coded
	if !errors.As(err, &known) {
		return ""
	}
	return known.code
}

type coded struct {
	code, text string
	kind       error // what it is, too; nil: nothing else
}

func (e *coded) Error() string { return e.text }
func (e *coded) Unwrap() error { return e.kind }

// Undo gives back a lock that may have been obtained by a command that failed with err, if its outcome is unknown: a lock
// that knows its owner need not be left behind. It returns err.
func Undo(ctx context.Context, clock Clock, err error, unlock func(context.Context) error) error {
	if errors.Is(err, ErrOutcomeUnknown) {
		_ = WithDetachedTimeout(ctx, clock, unlock) // what it could say is said by err
	}
	return err
}

// WaitError says why a wait under a context made for this timeout ended: ErrTimeout or ErrCancelled.
func WaitError(wait context.Context, timeout time.Duration) error {
	cause := context.Cause(wait)
	if errors.Is(cause, ErrTimeout) {
		return fmt.Errorf("%w after %v", ErrTimeout, timeout)
	}
	return fmt.Errorf("%w: %w", ErrCancelled, cause)
}
