// Package contestants has the locks that are compared: those of the evolution, and those of libraries that people use. Each contestant
// sells from one stock in a Redis.
package contestants

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/strategy"
)

// Seller is a contestant in one process. All buyers of the process share it.
type Seller interface {
	// Sell sells one piece. It calls entered once, when its wait is over and the sale itself begins. It reports whether the
	// stock was set. That can be so although it returns an error. When ctx ends, it stops waiting; a sale that began goes on.
	Sell(ctx context.Context, entered func()) (sold bool, err error)
	// Close gives back what Open took.
	Close() error
}

// Env is what all contestants are given alike.
type Env struct {
	Addrs    []string           // Redis servers, host:port; as many as the contestant needs, the stock's first
	Dial     redisclient.Dialer // for connections of the sale
	DialLock redisclient.Dialer // for connections of the lock: its requests are counted apart
	Pool     int                // connections of a go-redis client at most; 0: its default, ten a core
	Process  string             // a name that no other process has

	RetryPause  time.Duration // pause between two attempts, where buyers poll
	TTL         time.Duration // expiry of the lock
	WaitTimeout time.Duration // longest wait for it
}

// Kind says which kind of contestant it is.
type Kind string

// The kinds.
const (
	Limit     Kind = "limit"    // one buyer without a lock, however many buyers the others have: the most that a lock can reach
	Step      Kind = "ours"     // a step of the evolution
	Library   Kind = "library"  // a library that people use
	Segmented Kind = "several"  // a lock for each segment of the stock: sales in different ones go on at once
	Lockless  Kind = "lockless" // correct without a lock: all buyers sell at once
)

// Contestant is one row of the table.
type Contestant struct {
	Name     string
	Title    string // in a few words
	Kind     Kind
	Nodes    int                          // how many Redis servers it needs; 0 is one
	Segments int                          // in how many segments the stock is; 0: in none
	OffPage  bool                         // it differs little from its neighbours: measured where it is named, or as a step; not on the page
	fits     func(strategy.Servers) error // nil: it is on every server
	Open     func(Env) (Seller, error)
}

// IsStep reports whether it is one of the locks whose numbers docs/MATRIX.md shows.
func (c Contestant) IsStep() bool { return c.Kind == Step || c.Kind == Segmented }

// Fits fails if the contestant cannot be had on these servers.
func (c Contestant) Fits(servers strategy.Servers) error {
	if c.fits == nil {
		return nil
	}
	return c.fits(servers)
}

// ErrUnknown means that a name is not in the table.
var ErrUnknown = errors.New("there is no such contestant")

// Find gives the contestants of these names, in the order of the table, or ErrUnknown.
func Find(table []Contestant, names []string) ([]Contestant, error) {
	var allNames []string
	for _, c := range table {
		allNames = append(allNames, c.Name)
	}
	for _, name := range names {
		if !slices.Contains(allNames, name) {
			return nil, fmt.Errorf("%w: %q; there are %s", ErrUnknown, name, strings.Join(allNames, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(table), func(c Contestant) bool { return !slices.Contains(names, c.Name) }), nil
}
