// Package soak tests a lock for minutes or hours: buyers buy at full speed from replicas of lockstep while real faults are injected, one
// after the other. It then judges the lock from outside: by every answer to a buyer, the orders in every ledger, the stock that readers
// saw, and the time until sales recovered.
//
// A Session follows a plan of faults, which depends only on a seed (plan.go, fault_kinds.go). It starts a testbed (testbed.go): a Redis,
// replicas, a proxy between each of them and Redis, and a reverse proxy. It injects the faults (session.go, inject.go) while a load
// generator (load_generator.go) and readers (ledger.go) record what happens. The Record (record.go) is a plain value. Examine
// (examine.go) checks rules on its timeline (timeline.go), and returns a Result, which Text (text.go) prints and Draw
// (picture.go) draws.
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

// Settings of the replicas.
const (
	expiry       = time.Second      // lock.ttl: short, so that a fault can outlast the lock
	waitTimeout  = 5 * time.Second  // lock.wait_timeout
	thinkTime    = time.Millisecond // sale.think_time
	initialStock = 100_000_000      // inventory.initial: the stock is never sold out
	maxOrders    = 10_000_000       // inventory.max_orders: no ledger drops an order
)

// requestTimeout is the time limit of a request to buy: longer than a sale can wait for a change of run and for its lock together.
const requestTimeout = 15 * time.Second

var (
	// ErrUnsupportedLock is returned for a lock that Locks does not list.
	ErrUnsupportedLock = errors.New("soak does not support this lock")
	// ErrUnknownFault is returned for a kind of fault that Kinds does not list.
	ErrUnknownFault = errors.New("unknown fault")
)

// Locks returns the locks that a soak supports. With weaker locks, sales stop forever when the first replica is killed, or updates are lost
// without any fault.
func Locks() []string { return []string{"v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11"} }

// CheckLock returns ErrUnsupportedLock if Locks does not list the name.
func CheckLock(name string) error {
	if !slices.Contains(Locks(), name) {
		return fmt.Errorf("%w: %q; want one of %s", ErrUnsupportedLock, name, strings.Join(Locks(), ", "))
	}
	return nil
}

// isFenced reports whether a lock promises that no update is ever lost. Other locks lose updates when a holder, its network or Redis is
// suspended for longer than the lock's expiry, or when the lock is deleted.
func isFenced(lock string) bool { return capabilities(lock).Fenced }

// isRenewed reports whether a holder renews the lock.
func isRenewed(lock string) bool { return capabilities(lock).Renewed }

// capabilities returns the capabilities of a lock; the zero value for an unknown name.
func capabilities(lock string) strategy.Capabilities {
	row, _ := evolution.Find(lock)
	return row.Capabilities
}

// sleep waits for d. If ctx ends first, it returns the cause.
func sleep(ctx context.Context, d time.Duration) error {
	_ = lock.Sleep(ctx, lock.SystemClock{}, d)
	return context.Cause(ctx)
}
