package lock

import (
	"context"
	"errors"
	"fmt"
	"net"
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

// Failed tells what the error of a Redis command means: ErrCancelled when ctx ended before the command was sent,
// ErrUnavailable when it certainly had no effect, ErrOutcomeUnknown when only the reply is missing.
// The original error stays wrapped.
func Failed(ctx context.Context, command string, err error) error {
	var dial *net.OpError
	var refusal interface{ RedisError() } // how go-redis marks an error that Redis itself answered
	switch {
	case ctx.Err() != nil && errors.Is(err, ctx.Err()): // go-redis looks at the context before it writes, and not after
		return fmt.Errorf("%s: %w: %w", command, ErrCancelled, context.Cause(ctx))
	case errors.Is(err, ErrUnavailable): // the client knows that it sent nothing
		return fmt.Errorf("%s: %w", command, err)
	case errors.As(err, &refusal), errors.As(err, &dial) && dial.Op == "dial":
		return fmt.Errorf("%s: %w: %w", command, ErrUnavailable, err)
	default:
		return fmt.Errorf("%s: %w: %w", command, ErrOutcomeUnknown, err)
	}
}

// Undo gives back a lock that may have been obtained by a command that failed with err, if its outcome is unknown: a lock
// that knows its owner need not be left behind. It returns err.
func Undo(ctx context.Context, opts Options, err error, unlock func(context.Context) error) error {
	if errors.Is(err, ErrOutcomeUnknown) {
		_ = Anyway(ctx, opts.Clock, unlock) // what it could say is said by err
	}
	return err
}
