// Package chaos injects faults around a shop while buyers buy, one at a time, and judges afterwards from outside: by every answer to a
// buyer, by the orders of every ledger, and by how soon sales recover.
//
// A session has a plan, which depends on a seed alone (plan.go); it starts the shop and injects the faults (session.go,
// inject.go), while buyers (buyers.go) and a reader of the ledgers (ledger.go) write down what happens. What they wrote is a
// Record (record.go), a plain value. Judge (judge.go, rate.go) and Report (report.go) are pure functions over it.
package chaos

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// The settings of a shop under chaos. The expiry is short, so that a fault can outlast it; the stock is never sold out.
const (
	Expiry       = time.Second     // lock.ttl
	waitTimeout  = 5 * time.Second // lock.wait_timeout
	thinkTime    = time.Millisecond
	initialStock = 1_000_000
	maxOrders    = 10_000_000 // inventory.max_orders: no ledger drops an order
	replicas     = 3
)

// fenced are the locks that chaos can run with, and whether they promise that no update is ever lost. The others lose updates when a
// holder, or Redis, is stopped for longer than the lock's expiry, or when the lock is deleted.
func fenced() map[string]bool {
	return map[string]bool{"v4": false, "v5": false, "v6": false, "v7": true, "v8": true, "v9": true, "v10": true}
}

// CheckLock fails if chaos cannot run with the lock of that name.
func CheckLock(name string) error {
	if _, known := fenced()[name]; !known {
		return fmt.Errorf("chaos is not for the lock %q: want one of %s", name, strings.Join(slices.Sorted(maps.Keys(fenced())), ", "))
	}
	return nil
}

// wait waits for d, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
