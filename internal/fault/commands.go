package fault

import (
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"

	"lockstep/internal/lock"
	"lockstep/internal/redis/meaning"
	"lockstep/util/lua"
)

// What a trap of a shop's catches.

// IsTake reports whether a command takes a lock.
func IsTake(args []string) bool { return meaningOf(args).Verb == meaning.Takes }

// IsRelease reports whether a command gives a lock back.
func IsRelease(args []string) bool { return meaningOf(args).Verb == meaning.Removes }

// IsExpiry reports whether a command gives a lock an expiry after it was taken.
func IsExpiry(args []string) bool { m := meaningOf(args); return m.Verb == meaning.Renews && m.Forced }

// IsOfLock reports whether a command takes, renews or releases a lock.
func IsOfLock(args []string) bool { return slices.Contains(args, lock.Key) }

// IsRead reports whether by a command a sale reads the stock under its lock.
func IsRead(args []string) bool { return meaningOf(args).Verb == meaning.Reads }

// IsWrite reports whether by a command a sale writes.
func IsWrite(args []string) bool { return meaningOf(args).Verb == meaning.Writes }

// meaningOf returns what a command means, before its reply is there.
func meaningOf(args []string) meaning.Meaning {
	words := make([]any, len(args))
	for i, arg := range args {
		words[i] = arg
	}
	return meaning.Of(words, nil, nil)
}

// withScriptText returns what is sent instead of a command that is caught: the text of its script, where it names that by its SHA-1. A
// Redis that does not know it would do nothing, and the trap would have caught nothing.
func withScriptText(args []string, raw string) string {
	if len(args) > 1 {
		if script := lua.SentBy(args[0], args[1]); script != "" {
			return proto.Strings(append([]string{"EVAL", script}, args[2:]...)...)
		}
	}
	return raw
}

// IsTurn reports whether a message says that the lock was handed to a process.
func IsTurn(message []string) bool { return isOfTurns(message[1]) }

// IsSubscription reports whether after a command a process hears such messages.
func IsSubscription(args []string) bool {
	return strings.EqualFold(args[0], "subscribe") && slices.ContainsFunc(args[1:], isOfTurns)
}

// Either gives what matches what one of two does.
func Either(one, other func(args []string) bool) func(args []string) bool {
	return func(args []string) bool { return one(args) || other(args) }
}

// After gives what matches once so many others that match have passed.
func After(n int, matches func(args []string) bool) func(args []string) bool {
	return func(args []string) bool {
		if matches(args) {
			n--
		}
		return n < 0
	}
}

func isOfTurns(channel string) bool { return strings.Contains(channel, ":turn:") }
