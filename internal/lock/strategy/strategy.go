// Package strategy says what a strategy is: a lock, how a sale updates the stock under it, and what it promises. internal/lock/evolution
// has the table of all of them.
package strategy

import (
	"fmt"

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
	Capabilities Capabilities
	New          func(Parts) lock.Locker
}

// Parts are what the locks of one process are made of. Each strategy takes what it needs.
type Parts struct {
	lock.Options

	Client       redis.Cmdable       // of the stock's Redis
	Nodes        []redis.Cmdable     // independent masters, for a lock that is on several
	Process      string              // a name that no other process has
	HandOffLimit int                 // how often a process may hand the lock to its next sale while another process waits
	Notifier     lock.Notifier       // tells processes of messages, for locks that do not only poll
	Rand         func(n int64) int64 // from 0 to n-1, for random pauses and ids
}

// ErrNoNodes means that a lock needs masters that there are not.
var ErrNoNodes = lock.WithCode("no_nodes", "there are no nodes")

// Fits fails with ErrNoNodes if the lock cannot be made on so many nodes.
func (s Strategy) Fits(nodes int) error {
	if s.OnNodes && nodes == 0 {
		return fmt.Errorf("%w: %s is on several masters: name three or more by redis.redlock_addrs, or leave redis.addrs empty for embedded ones",
			ErrNoNodes, s.Name)
	}
	return nil
}

// Scope says whom a lock promises to exclude.
type Scope int

// The scopes.
const (
	Everybody Scope = iota // every process that asks the same Redis
	Process                // the other sales of the same process
	Nobody                 // it is no lock
)
