// Package strategy says what a strategy is: a lock, how a sale updates the stock under it, and what it promises. internal/evolution
// has the table of all of them.
package strategy

import (
	"github.com/redis/go-redis/v9"

	"lockstep/internal/language"
	"lockstep/internal/lock"
)

// Strategy is one row of the table.
type Strategy struct {
	Name         string
	Title        language.Text
	Adds         language.Text
	Costs        language.Text
	StillBroken  Flaws
	Scope        Scope
	Update       Update
	OnNodes      bool // the lock is on several masters, apart from the Redis that the stock is in
	Native       bool // the lock is released by a command of newer servers: Servers.CompareAndDelete
	Needs        Rights
	Capabilities Capabilities
	New          func(Parts) lock.Locker
}

// Parts are what the locks of one process are made of. Each strategy takes what it needs.
type Parts struct {
	lock.Options

	Client           redis.UniversalClient // of the stock's Redis
	CompareAndDelete string                // as in Servers
	Nodes            []redis.Cmdable       // independent masters, for a lock that is on several
}

// Scope says whom a lock promises to exclude.
type Scope int

// The scopes.
const (
	Everybody Scope = iota // every process that asks the same Redis
	Process                // the other sales of the same process
	Nobody                 // it is no lock
)
