package fault

import (
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"

	"lockstep/internal/lock"
	"lockstep/internal/redis/meaning"
	"lockstep/util/lua"
)

// Predicates for the commands and messages that a trap catches.

// IsTake reports whether a command takes a lock.
func IsTake(args []string) bool { return meaningOf(args).Verb == meaning.Takes }

// IsRelease reports whether a command releases a lock.
func IsRelease(args []string) bool { return meaningOf(args).Verb == meaning.Removes }

// IsExpiry reports whether a command sets the expiry of a lock that is already taken.
func IsExpiry(args []string) bool { m := meaningOf(args); return m.Verb == meaning.Renews && m.Forced }

// NamesLockKey reports whether a command has the lock's key among its arguments.
func NamesLockKey(args []string) bool { return slices.Contains(args, lock.Key) }

// IsRead reports whether a command reads the stock.
func IsRead(args []string) bool { return meaningOf(args).Verb == meaning.Reads }

// IsWrite reports whether a command writes the stock or an order.
func IsWrite(args []string) bool { return meaningOf(args).Verb == meaning.Writes }

// meaningOf classifies a command without its reply.
func meaningOf(args []string) meaning.Meaning {
	words := make([]any, len(args))
	for i, arg := range args {
		words[i] = arg
	}
	return meaning.Of(words, nil, nil)
}

// withScriptText returns what a trap sends in place of a caught command. An EVALSHA becomes an EVAL with the script: a Redis that
// does not know the script would do nothing, and the trap would have caught a command without effect.
func withScriptText(args []string, raw string) string {
	if len(args) > 1 {
		if script := lua.SentScript(args[0], args[1]); script != "" {
			return proto.Strings(append([]string{"EVAL", script}, args[2:]...)...)
		}
	}
	return raw
}

// IsTurn reports whether a message tells a process that the lock was handed to it.
func IsTurn(message []string) bool { return isTurnChannel(message[1]) }

// IsSubscription reports whether a command subscribes to the messages of IsTurn.
func IsSubscription(args []string) bool {
	return strings.EqualFold(args[0], "subscribe") && slices.ContainsFunc(args[1:], isTurnChannel)
}

// Either returns a predicate that is true where one or other is.
func Either(one, other func(args []string) bool) func(args []string) bool {
	return func(args []string) bool { return one(args) || other(args) }
}

// SkipFirst returns a stateful predicate. It skips n commands that match; from the next match on it is true of every command.
func SkipFirst(n int, matches func(args []string) bool) func(args []string) bool {
	return func(args []string) bool {
		if matches(args) {
			n--
		}
		return n < 0
	}
}

// isTurnChannel reports whether processes receive the messages of IsTurn on a channel.
func isTurnChannel(channel string) bool { return strings.Contains(channel, ":turn:") }
