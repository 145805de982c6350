package lab

import (
	"slices"
	"strings"

	"lockstep/internal/lock"
	"lockstep/util/lua"
)

// What a trap catches.

// aTake is the command that takes a lock.
func aTake(args []string) bool {
	switch name := strings.ToLower(args[0]); name {
	case "set", "setnx":
		return args[1] == lock.Key
	case "eval":
		return slices.Contains([]string{lua.Lock, lua.LockFenced, lua.Acquire, lua.SetNXExpire}, args[1])
	default:
		return false
	}
}

// aRelease is the command that gives a lock back.
func aRelease(args []string) bool {
	switch name := strings.ToLower(args[0]); name {
	case "del":
		return args[1] == lock.Key
	case "eval":
		return slices.Contains([]string{lua.CompareAndDelete, lua.Unlock, lua.Release}, args[1])
	default:
		return false
	}
}

// anExpiry is the command that gives a lock an expiry after it was taken.
func anExpiry(args []string) bool {
	name := strings.ToLower(args[0])
	return (name == "expire" || name == "pexpire") && args[1] == lock.Key
}

// aWrite is the command by which a sale writes.
func aWrite(args []string) bool {
	return strings.EqualFold(args[0], "eval") && (args[1] == lua.Write || args[1] == lua.Take)
}
