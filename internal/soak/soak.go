// Package soak lets buyers buy at full speed from replicas of lockstep, while real faults happen, one after the other, and judges
// afterwards from outside: by every answer to a buyer, by the orders of every ledger, by the stock as it was read, and by how soon sales
// recover.
//
// A session has a plan, which depends on a seed alone (fault_kinds.go). It starts a Redis, proxies, replicas and their front (testbed.go), and
// injects the faults (session.go, inject.go), while buyers (load_generator.go) and readers (ledger.go) write down what happens. What they wrote is
// a Record (record.go), a plain value. Examine (examine.go and the rules beside it) computes its Result; Text (text.go) tells that, and Draw
// (picture.go) draws it.
package soak

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/internal/evolution"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// The settings of a shop in a soak. The expiry is short, so that a fault can outlast it; the stock is never sold out.
const (
	expiry       = time.Second     // lock.ttl
	waitTimeout  = 5 * time.Second // lock.wait_timeout
	thinkTime    = time.Millisecond
	initialStock = 100_000_000
	maxOrders    = 10_000_000 // inventory.max_orders: no ledger drops an order
)

// requestTimeout is longer than a sale waits at the barrier and for its lock together.
const requestTimeout = 15 * time.Second

// What can go wrong, to be matched with errors.Is.
var (
	ErrUnsupportedLock = errors.New("no soak is for this lock")
	ErrUnknownFault    = errors.New("there is no such fault")
)

// Locks gives those that a soak can run with. Weaker ones stop selling for ever at the first replica that is killed, or lose updates
// without any fault.
func Locks() []string { return []string{"v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11"} }

// CheckLock fails if a soak cannot run with the lock of that name.
func CheckLock(name string) error {
	if !slices.Contains(Locks(), name) {
		return fmt.Errorf("%w: %q; want one of %s", ErrUnsupportedLock, name, strings.Join(Locks(), ", "))
	}
	return nil
}

// isFenced reports whether a lock promises that no update is ever lost. The others lose updates when a holder, its network or Redis stands
// still for longer than the lock's expiry, or when the lock is deleted.
func isFenced(lock string) bool { return capabilities(lock).Fenced }

func isRenewed(lock string) bool { return capabilities(lock).Renewed }

// capabilities gives those that the table of strategies has of a lock; none of a name that it does not have.
func capabilities(lock string) strategy.Capabilities {
	row, _ := evolution.Find(lock) // CheckLock has refused such a name
	return row.Capabilities
}

// sleep waits for d, or until ctx ends; then it fails with the cause of that.
func sleep(ctx context.Context, d time.Duration) error {
	_ = lock.Sleep(ctx, lock.SystemClock{}, d)
	return context.Cause(ctx)
}
