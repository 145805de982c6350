// Package strategy defines Strategy: a lock, how a sale updates the stock under it, and what it promises. Package evolution has the table
// of all strategies.
package strategy

import (
	"github.com/redis/go-redis/v9"

	"lockstep/internal/language"
	"lockstep/internal/lock"
)

// Strategy is one row of the table of strategies.
type Strategy struct {
	Name         string        // value of lock.version, such as v4
	Title        language.Text // short description, such as "with an expiry"
	Adds         language.Text // improvement over the step before
	Costs        language.Text // commands per sale, and other costs
	StillBroken  Flaws         // known flaws
	Scope        Scope         // sales that exclude each other
	Update       Update        // how a sale updates the stock
	Check        string        // Lua by which the store checks fencing tokens, see lua.WithCheck; "": the store's own check
	OnNodes      bool          // the lock is on several masters, apart from the stock's Redis
	Native       bool          // the lock is released by a command of newer servers: Servers.CompareAndDelete
	Needs        Rights        // rights of the Redis user, with lock.Key as the key
	Capabilities Capabilities
	New          func(Parts) lock.Locker // returns a new lock
}

// Parts holds what the locks of one process are made of. Each strategy takes what it needs.
type Parts struct {
	lock.Options

	Client           redis.UniversalClient // client of the stock's Redis
	CompareAndDelete string                // native command that compares and deletes, DELEX or DELIFEQ; "": Redis has none
	Nodes            []redis.Cmdable       // clients of independent masters, for a lock that is on several
}

// Scope is the set of sales among which a lock promises mutual exclusion.
type Scope int

// The scopes.
const (
	Everybody Scope = iota // the sales of all processes that use the same Redis
	Process                // the sales of one process
	Nobody                 // no mutual exclusion
)
