package strategy

import (
	"cmp"
	"fmt"

	"lockstep/internal/lock"
)

// Servers are what there is for a lock to be on.
type Servers struct {
	Nodes            int    // independent masters
	Redis            string // what the stock's Redis is, with its version, for people; "" if it does not say
	CompareAndDelete string // its command that deletes a key with a certain value: DELEX or DELIFEQ; "" if it has none
}

// What a lock may lack.
var (
	ErrNoNodes   = lock.WithCode("no_nodes", "there are no nodes")
	ErrNoCommand = lock.WithCode("no_command", "the server lacks a command")
	ErrNoRights  = lock.WithCode("no_rights", "the Redis user lacks rights")
)

// Fits fails with ErrNoNodes or ErrNoCommand if the lock cannot be made on these servers.
func (s Strategy) Fits(there Servers) error {
	switch {
	case s.OnNodes && there.Nodes == 0:
		return fmt.Errorf("%w: %s is on several masters: name three or more by redis.redlock_addrs, or leave redis.addrs empty for embedded ones",
			ErrNoNodes, s.Name)
	case s.Native && there.CompareAndDelete == "":
		return fmt.Errorf("%w: %s is released by DELEX (Redis 8.4 or newer) or DELIFEQ (Valkey 9 or newer), and %s has neither",
			ErrNoCommand, s.Name, cmp.Or(there.Redis, "this one"))
	}
	return nil
}
