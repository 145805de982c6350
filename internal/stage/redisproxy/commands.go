package redisproxy

import (
	"slices"
	"strings"

	"lockstep/internal/dao"
	"lockstep/internal/lock"
	"lockstep/util/lua"
)

// What a trap of a shop's catches.

// IsTake reports whether a command takes a lock.
func IsTake(args []string) bool {
	switch name := strings.ToLower(args[0]); name {
	case "set", "setnx":
		return args[1] == lock.Key
	default:
		return isScript(args, lua.Lock, lua.LockFenced, lua.Acquire, lua.AcquireOrAsk, lua.SetNXExpire)
	}
}

// IsRelease reports whether a command gives a lock back.
func IsRelease(args []string) bool {
	switch name := strings.ToLower(args[0]); name {
	case "del", "delex", "delifeq":
		return args[1] == lock.Key
	default:
		return isScript(args, lua.CompareAndDelete, lua.Unlock, lua.Release)
	}
}

// IsExpiry reports whether a command gives a lock an expiry after it was taken.
func IsExpiry(args []string) bool {
	name := strings.ToLower(args[0])
	return (name == "expire" || name == "pexpire") && args[1] == lock.Key
}

// IsOfLock reports whether a command takes, renews or releases a lock.
func IsOfLock(args []string) bool { return slices.Contains(args, lock.Key) }

// IsRead reports whether by a command a sale reads the stock under its lock.
func IsRead(args []string) bool {
	return strings.EqualFold(args[0], "get") && args[1] == dao.InventoryKey || isScript(args, lua.ReadFenced)
}

// IsWrite reports whether by a command a sale writes.
func IsWrite(args []string) bool { return isScript(args, lua.Write, lua.Take, lua.Sell) }

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

func isScript(args []string, scripts ...string) bool {
	return strings.EqualFold(args[0], "eval") && slices.Contains(scripts, args[1])
}
