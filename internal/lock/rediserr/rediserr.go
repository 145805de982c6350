// Package rediserr classifies errors of go-redis by their meaning for a lock or a sale. Classify an error once, where its command was sent.
package rediserr

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
)

// ErrNoFiles is returned when no connection can be made because this process or its machine has run out of file descriptors. It always
// comes with lock.ErrUnavailable.
var ErrNoFiles = lock.WithCode("busy", "no more files can be opened (ulimit -n)")

// Classify wraps the error of a Redis command in what it means: lock.ErrCancelled if ctx ended before the command was sent;
// lock.ErrUnavailable if the command certainly had no effect, in particular lock.ErrRefused if Redis refused it; lock.ErrOutcomeUnknown if
// the reply is missing, in particular lock.ErrScriptFailed if a script failed, perhaps midway. The names of commands that run scripts begin
// with EVAL. Classify returns nil if err is nil.
func Classify(ctx context.Context, command string, err error) error {
	var dial *net.OpError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && errors.Is(err, ctx.Err()): // go-redis checks the context before it writes, and not afterwards.
		return fmt.Errorf("%s: %w: %w", command, lock.ErrCancelled, context.Cause(ctx))
	case errors.Is(err, lock.ErrUnavailable): // The client knows that it sent nothing.
		return fmt.Errorf("%s: %w", command, err)
	case isOutOfFiles(err):
		return fmt.Errorf("%s: %w: %w: %w", command, ErrNoFiles, lock.ErrUnavailable, err)
	case IsAnswer(err) && strings.HasPrefix(command, "EVAL") && !ranNothing(err):
		return fmt.Errorf("%s: %w: %w", command, lock.ErrScriptFailed, err)
	case IsAnswer(err):
		return fmt.Errorf("%s: %w: %w", command, lock.ErrRefused, err)
	case errors.As(err, &dial) && dial.Op == "dial", hadNoConnection(err):
		return fmt.Errorf("%s: %w: %w", command, lock.ErrUnavailable, err)
	default:
		return fmt.Errorf("%s: %w: %w", command, lock.ErrOutcomeUnknown, err)
	}
}

// ranNothing reports whether Redis refused a script before its first write. The state of the server does not change while a script runs, so
// what the server's state forbids is refused at the first write. Missing rights inside a script have another code.
func ranNothing(err error) bool {
	return slices.ContainsFunc([]string{
		"NOPERM", "NOAUTH", "unknown command", "NOSCRIPT", "EXECABORT", "CROSSSLOT", "MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN",
		"LOADING", "BUSY", "MASTERDOWN", "READONLY", "OOM", "MISCONF", "NOREPLICAS", "max number of clients reached",
	}, func(code string) bool { return redis.HasErrorPrefix(err, code) })
}

// isOutOfFiles reports whether this process or its machine has run out of file descriptors.
func isOutOfFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// hadNoConnection reports whether a command was not sent because the client's pool gave it no connection.
func hadNoConnection(err error) bool {
	return errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrPoolExhausted) || errors.Is(err, redis.ErrClosed)
}

// IsAnswer reports whether Redis itself answered with this error.
func IsAnswer(err error) bool {
	var answer redis.Error
	return errors.As(err, &answer)
}

// HasCode reports whether Redis answered with an error of this code, such as OOM. In the errors of scripts, Redis before 7 and the embedded
// Redis have the code in the middle.
func HasCode(err error, code string) bool {
	return redis.HasErrorPrefix(err, code+" ") || redis.HasErrorPrefix(err, "") && strings.Contains(err.Error(), " -"+code+" ") ||
		redis.HasErrorPrefix(err, "Error") && strings.Contains(err.Error(), code+" ")
}

// IsReplica reports whether a server refused a command because it is not a master.
func IsReplica(err error) bool { return HasCode(err, "READONLY") || HasCode(err, "MASTERDOWN") }

// IsWrongType reports whether a key has another type than the command needs.
func IsWrongType(err error) bool { return HasCode(err, "WRONGTYPE") }

// IsUnknownCommand reports whether the server does not know the command, or one that a script called.
func IsUnknownCommand(err error) bool {
	return redis.HasErrorPrefix(err, "unknown command") || redis.HasErrorPrefix(err, "Unknown Redis command")
}

// IsDenied reports whether the user lacks a right to a command, a key or a channel, perhaps within a script. In a transaction, EXEC reports
// it.
func IsDenied(err error) bool {
	return redis.HasErrorPrefix(err, "NOPERM") || redis.HasErrorPrefix(err, "EXECABORT") && strings.Contains(err.Error(), "NOPERM") ||
		redis.HasErrorPrefix(err, "ACL failure in script") || redis.HasErrorPrefix(err, "The user executing the script can't ")
}
