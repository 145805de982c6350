package library

import (
	"context"
	"fmt"
	"time"

	"lockstep/internal/dao"
	"lockstep/internal/evolution"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
	"lockstep/locktest"
)

// Own is a step of lockstep on one node, for comparison.
func Own(step string) Library { return OwnOnNodes(step, 1) }

// OwnOnNodes is a step of lockstep whose lock is on a majority of so many nodes.
func OwnOnNodes(step string, nodes int) Library {
	return Library{
		Name: step, Key: Key, Nodes: nodes,
		Usage: "expiry 1s, retry interval 100ms, `Lock`, `Unlock`; the client sends a command once",
		Open: func(p locktest.Process) (locktest.Lock, error) {
			row, err := evolution.Find(step)
			if err != nil {
				return nil, fmt.Errorf("the step %s: %w", step, err)
			}
			return openOwn(p, row, nodes), nil
		},
	}
}

const (
	ownTTL      = time.Second
	ownPatience = time.Hour
	ownHandOffs = 8
)

// openOwn opens a lock whose every call is a request of another buyer. It does without the lease's token: what a holder is told is what
// counts here.
func openOwn(p locktest.Process, row strategy.Strategy, nodes int) locktest.Lock {
	parts := strategy.Parts{
		Options: lock.Options{
			Key: Key, TTL: ownTTL, RetryInterval: Poll, WaitTimeout: ownPatience, Clock: lock.SystemClock{},
			Process: p.Name, HandOffLimit: ownHandOffs,
			Rand: func(n int64) int64 { return n - 1 }, // the longest pause, each time
		},
	}
	var notifier *dao.Notifier
	for node := range nodes {
		client := goRedis(p, node, false)
		parts.Nodes = append(parts.Nodes, client)
		if node == 0 {
			parts.Client, notifier = client, dao.NewNotifier(client)
		}
	}
	p.Cleanup(func() { _ = notifier.Close() }) // Closing a simulated connection cannot fail.
	parts.Notifier = notifier
	locker, next := row.New(parts), owners(p)
	return locktest.Adapter[*lock.Lease]{
		Acquire: func(ctx context.Context) (*lock.Lease, error) { return locker.Lock(ctx, lock.Owner(next())) },
		Release: (*lock.Lease).Unlock,
		Context: (*lock.Lease).Context,
	}
}
