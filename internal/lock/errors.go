package lock

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Errors of a lock, to be matched with errors.Is.
var (
	// ErrNotObtained is returned by TryLock when another owner holds the lock.
	ErrNotObtained = errors.New("the lock is held by another")
	// ErrTimeout is returned by Lock when Options.WaitTimeout has passed.
	ErrTimeout = WithCode("lock_timeout", "the wait for the lock timed out")
	// ErrCancelled is returned when the caller's context ended before a command was sent. It wraps the cause, which may have a code.
	ErrCancelled = errors.New("the request was cancelled")
	// ErrUnavailable is returned when a command certainly had no effect, because Redis could not be reached or refused it.
	ErrUnavailable = WithCode("redis_unavailable", "redis is unavailable")
	// ErrOutcomeUnknown is returned when a command was sent and no reply came: it may have had its effect.
	ErrOutcomeUnknown = WithCode("redis_unavailable", "redis did not answer: the outcome is unknown")
	// ErrRefused is the ErrUnavailable of a command that Redis answered with an error.
	ErrRefused = kindOf(ErrUnavailable, "redis refused the command")
	// ErrScriptFailed is the ErrOutcomeUnknown of a script that failed in Redis, perhaps midway.
	ErrScriptFailed = kindOf(ErrOutcomeUnknown, "a script failed in redis, perhaps after a part of it: the outcome is unknown")
	// ErrNotOwner is returned by Unlock when another owner holds the lock, or the lease was released before.
	ErrNotOwner = errors.New("the lock is not ours")
	// ErrExpired is returned by Unlock when nobody holds the lock.
	ErrExpired = errors.New("the lock was gone already: it expired, or another deleted it")
	// ErrLost is the cause of a lease's context that ended because the lock was lost.
	ErrLost = WithCode("lock_lost", "the lock was lost")
)

// WithCode returns a new error with a text for people and a code for programs, which never changes.
func WithCode(code, text string) error { return &coded{code: code, text: text} }

// kindOf returns a new error that wraps err and has its code.
func kindOf(err error, text string) error { return &coded{CodeOf(err), text, err} }

// CodeOf returns the code of err, or of the first error with a code that it wraps; "" if there is none.
func CodeOf(err error) string {
	var known *coded
	if !errors.As(err, &known) {
		return ""
	}
	return known.code
}

// coded is an error with a code for programs.
type coded struct {
	code, text string
	kind       error // more general error that this one wraps; nil: none
}

func (e *coded) Error() string { return e.text }
func (e *coded) Unwrap() error { return e.kind }

// Undo releases a lock that a command may have obtained although it failed with err, if the outcome of the command is unknown. This is safe
// for a lock whose value names its owner. Undo returns err.
func Undo(ctx context.Context, clock Clock, err error, unlock func(context.Context) error) error {
	if errors.Is(err, ErrOutcomeUnknown) {
		_ = WithDetachedTimeout(ctx, clock, unlock) // err reports the failure already.
	}
	return err
}

// WaitError returns the error of a wait whose context has ended: ErrTimeout if it ended by the timeout, and otherwise ErrCancelled.
func WaitError(wait context.Context, timeout time.Duration) error {
	cause := context.Cause(wait)
	if errors.Is(cause, ErrTimeout) {
		return fmt.Errorf("%w after %v", ErrTimeout, timeout)
	}
	return fmt.Errorf("%w: %w", ErrCancelled, cause)
}
