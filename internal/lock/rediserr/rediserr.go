// Package rediserr says what an error of go-redis means for a lock or a sale. An error is classified once, where its command was sent.
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

// ErrNoFiles means that a connection could not be made because this process, or its machine, has run out of files. Such an error is
// lock.ErrUnavailable, too.
var ErrNoFiles = lock.WithCode("busy", "no more files can be opened (ulimit -n)")

// Classify says what the error of a Redis command means: lock.ErrCancelled when ctx ended before the command was sent,
// lock.ErrUnavailable when the command certainly had no effect, lock.ErrRefused if that is since Redis refused it; lock.ErrOutcomeUnknown
// when the reply is missing, lock.ErrScriptFailed when it says that a script failed, perhaps midway: the name of such a command begins with
// EVAL. The original error stays wrapped; no error is none.
func Classify(ctx context.Context, command string, err error) error {
	var dial *net.OpError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && errors.Is(err, ctx.Err()): // go-redis looks at the context before it writes, and not after
		return fmt.Errorf("%s: %w: %w", command, lock.ErrCancelled, context.Cause(ctx))
	case errors.Is(err, lock.ErrUnavailable): // the client knows that it sent nothing
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
// what is refused for it is refused at the first write. A right that the user lacks inside the script has another code.
func ranNothing(err error) bool {
	return slices.ContainsFunc([]string{
		"NOPERM", "NOAUTH", "unknown command", "NOSCRIPT", "EXECABORT", "CROSSSLOT", "MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN",
		"LOADING", "BUSY", "MASTERDOWN", "READONLY", "OOM", "MISCONF", "NOREPLICAS", "max number of clients reached",
	}, func(code string) bool { return redis.HasErrorPrefix(err, code) })
}

// isOutOfFiles reports whether a connection could not be made because this process, or its machine, has run out of files.
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

// HasCode reports whether Redis answered with an error of this code, such as OOM. Before Redis 7, and of the embedded one, the error of a
// script has the code in the middle.
func HasCode(err error, code string) bool {
	return redis.HasErrorPrefix(err, code+" ") || redis.HasErrorPrefix(err, "") && strings.Contains(err.Error(), " -"+code+" ") ||
		redis.HasErrorPrefix(err, "Error") && strings.Contains(err.Error(), code+" ")
}

// IsReplica reports whether a server refused a command because it is not a master.
func IsReplica(err error) bool { return HasCode(err, "READONLY") || HasCode(err, "MASTERDOWN") }

// IsWrongType reports whether a key is of another type than the command is for.
func IsWrongType(err error) bool { return HasCode(err, "WRONGTYPE") }

// IsUnknownCommand reports whether the server does not have the command, or one that a script sent.
func IsUnknownCommand(err error) bool {
	return redis.HasErrorPrefix(err, "unknown command") || redis.HasErrorPrefix(err, "Unknown Redis command")
}

// IsDenied reports whether the user lacks a right: to a command, a key or a channel, perhaps within a script. EXEC is refused as it ends a
// transaction.
func IsDenied(err error) bool {
	return redis.HasErrorPrefix(err, "NOPERM") || redis.HasErrorPrefix(err, "EXECABORT") && strings.Contains(err.Error(), "NOPERM") ||
		redis.HasErrorPrefix(err, "ACL failure in script") || redis.HasErrorPrefix(err, "The user executing the script can't ")
}
