// Package contest is who competes: each contestant sells from one stock in a Redis, in its own way of taking turns.
package contest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/internal/redisclient"
)

// Seller is a contestant in one process, for all its workers.
type Seller interface {
	// Sell sells one piece. It calls entered once, when its wait is over and the sale itself begins. It reports whether the
	// stock was set, which it may have been even if it then failed. When ctx ends, it stops waiting; a sale that began goes on.
	Sell(ctx context.Context, entered func()) (sold bool, err error)
	// Close gives back what Open took.
	Close() error
}

// Env is what all contestants are given alike.
type Env struct {
	Addrs   []string           // Redis servers, host:port; as many as the contestant needs, the stock's first
	Dial    redisclient.Dialer // for all connections to them
	Pool    int                // connections of a go-redis client at most; 0: its default, ten a core
	Process string             // a name that no other process has

	Retry time.Duration // pause between two tries, where waiters poll
	TTL   time.Duration // expiry of the lock
	Wait  time.Duration // longest wait for it
}

// Kind says what a contestant is to the others.
type Kind string

// The kinds.
const (
	Limit    Kind = "limit"    // one worker without a lock, whatever the number of waiters: what there is to reach
	Ours     Kind = "ours"     // a step of the evolution
	Library  Kind = "library"  // what people use
	Lockless Kind = "lockless" // all workers at once, and yet right
)

// BriefWaiters is how many waiters the brief contestants are measured with at most; and in one process alone, and not on bare loopback.
const BriefWaiters = 200

// Contestant is one row of the table.
type Contestant struct {
	Name  string
	What  string // in a few words
	Kind  Kind
	Nodes int  // how many Redis servers it needs; 0 is one
	Brief bool // measured in few conditions unless it is asked for: it differs little from its neighbours
	Open  func(Env) (Seller, error)
}

// ErrUnknown means that a name is not in the table.
var ErrUnknown = errors.New("there is no such contestant")

// Find gives the contestants of these names, in the order of the table, or ErrUnknown.
func Find(table []Contestant, names []string) ([]Contestant, error) {
	var all []string
	for _, c := range table {
		all = append(all, c.Name)
	}
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("%w: %q; there are %s", ErrUnknown, name, strings.Join(all, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(table), func(c Contestant) bool { return !slices.Contains(names, c.Name) }), nil
}
