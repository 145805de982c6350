package strategy

import (
	"cmp"
	"fmt"

	"lockstep/internal/lock"
)

// Servers describes the Redis servers that are available to a lock.
type Servers struct {
	Nodes            int    // number of independent masters
	Redis            string // product and version of the stock's Redis, such as "Redis 8.4.0"; "" if unknown
	CompareAndDelete string // native compare-and-delete command of the stock's Redis: DELEX or DELIFEQ; "" if it has none
}

// Errors of Strategy.CheckServers, and of the trial of a lock.
var (
	// ErrNoNodes is returned for a lock on several masters if there are none.
	ErrNoNodes = lock.WithCode("no_nodes", "there are no nodes")
	// ErrNoCommand is returned for a lock whose command the server does not have.
	ErrNoCommand = lock.WithCode("no_command", "the server lacks a command")
	// ErrNoRights is returned if the Redis user may not run a command of the lock.
	ErrNoRights = lock.WithCode("no_rights", "the Redis user lacks rights")
)

// CheckServers returns ErrNoNodes or ErrNoCommand if the lock does not work on these servers.
func (s Strategy) CheckServers(available Servers) error {
	switch {
	case s.OnNodes && available.Nodes == 0:
		return fmt.Errorf("%w: %s is on several masters: name three or more by redis.redlock_addrs, or leave redis.addrs empty for embedded ones",
			ErrNoNodes, s.Name)
	case s.Native && available.CompareAndDelete == "":
		return fmt.Errorf("%w: %s is released by DELEX (Redis 8.4 or newer) or DELIFEQ (Valkey 9 or newer), and %s has neither",
			ErrNoCommand, s.Name, cmp.Or(available.Redis, "this one"))
	}
	return nil
}
