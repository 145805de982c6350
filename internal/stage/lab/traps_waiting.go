package lab

import (
	"slices"
	"strings"

	"lockstep/internal/dao"
	"lockstep/util/lua"
)

// What a trap catches where sales wait for the lock.

// aRead is the command by which a sale reads the stock under its lock.
func aRead(args []string) bool {
	return strings.EqualFold(args[0], "get") && args[1] == dao.InventoryKey || strings.EqualFold(args[0], "eval") && args[1] == lua.ReadFenced
}

// after is what matches once so many others that match have passed.
func after(n int, matches func(args []string) bool) func(args []string) bool {
	return func(args []string) bool {
		if matches(args) {
			n--
		}
		return n < 0
	}
}

// aTurn is the message that the lock was handed to a process.
func aTurn(message []string) bool { return strings.Contains(message[1], ":turn:") }

// anEar is the command after which a process hears such messages.
func anEar(args []string) bool {
	return strings.EqualFold(args[0], "subscribe") && slices.ContainsFunc(args[1:], func(channel string) bool {
		return strings.Contains(channel, ":turn:")
	})
}
