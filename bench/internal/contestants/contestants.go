// Package contestants implements the locks that bench compares: those of the evolution, and those of libraries that people use. Each
// contestant sells from a stock in Redis. Begin with Table and Seller.
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
	// Sell sells one piece. It calls entered once, when its wait is over and the sale itself begins. It returns whether the stock was
	// set, which can be true with an error. When ctx ends, Sell stops waiting; a sale that has begun is completed.
	Sell(ctx context.Context, entered func()) (sold bool, err error)
	// Close closes the connections that Open opened.
	Close() error
}

// Env configures a contestant. It is the same for all contestants.
type Env struct {
	Addrs    []string           // host:port of the Redis servers; the first has the stock
	Dial     redisclient.Dialer // dials the connections of the sale
	DialLock redisclient.Dialer // dials the connections of the lock, whose requests are counted separately
	Pool     int                // largest number of connections of a go-redis client; 0: its default, ten per core
	Process  string             // unique name of the process

	RetryPause  time.Duration // pause between two attempts of a buyer that polls
	TTL         time.Duration // expiry of the lock
	WaitTimeout time.Duration // longest wait for the lock
}

// Kind is a kind of contestant.
type Kind string

// Kinds of contestants.
const (
	Limit     Kind = "limit"    // a single buyer without a lock, the upper bound for any lock
	Step      Kind = "ours"     // a step of the evolution
	Library   Kind = "library"  // a library that people use
	Segmented Kind = "several"  // a lock for each segment of the stock, so that several sales proceed at once
	Lockless  Kind = "lockless" // no lock, but correct updates by all buyers at once
)

// Contestant is one row of the table.
type Contestant struct {
	Name     string
	Title    string // short description
	Kind     Kind
	Nodes    int                          // number of Redis servers; 0: one
	Segments int                          // number of segments of the stock; 0: not divided
	OffPage  bool                         // differs little from others: measured only by name or as a step, and not on the page
	fits     func(strategy.Servers) error // returns an error if a server lacks what it needs; nil: none does
	Open     func(Env) (Seller, error)
}

// IsStep reports whether docs/MATRIX.md shows the figures of the contestant.
func (c Contestant) IsStep() bool { return c.Kind == Step || c.Kind == Segmented }

// Fits returns an error if the contestant cannot run on these servers.
func (c Contestant) Fits(servers strategy.Servers) error {
	if c.fits == nil {
		return nil
	}
	return c.fits(servers)
}

// ErrUnknown means that a name is not in the table.
var ErrUnknown = errors.New("there is no such contestant")

// Find returns the contestants with these names, in the order of the table, or ErrUnknown.
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
