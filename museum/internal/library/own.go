package library

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/lock"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
)

// Own is a step of lockstep on one node, for comparison.
func Own(step string) Library { return OwnOnNodes(step, 1) }

// OwnOnNodes is a step of lockstep whose lock is on a majority of so many nodes.
func OwnOnNodes(step string, nodes int) Library {
	return Library{
		Name: step, Key: Key, Nodes: nodes,
		Usage: "expiry 1s, retry interval 100ms, `Lock`, `Unlock`; the client sends a command once",
		Open: func(process string, dial Dial) (Process, error) {
			row, err := evolution.Find(step)
			if err != nil {
				return nil, fmt.Errorf("the step %s: %w", step, err)
			}
			return openOwn(process, dial, row, nodes), nil
		},
	}
}

const (
	ownTTL      = time.Second
	ownPatience = time.Hour
	ownHandOffs = 8
)

type ownProcess struct {
	clients  []*redis.Client
	notifier *dao.Notifier
	locker   lock.Locker
	owners
}

func openOwn(process string, dial Dial, row strategy.Strategy, nodes int) *ownProcess {
	p := &ownProcess{}
	parts := strategy.Parts{
		Options: lock.Options{
			Key: Key, TTL: ownTTL, RetryInterval: Poll, WaitTimeout: ownPatience, Clock: lock.SystemClock{},
			Process: process, HandOffLimit: ownHandOffs,
			Rand: func(n int64) int64 { return n - 1 }, // the longest pause, each time
		},
	}
	for node := range nodes {
		client := goRedis(dial, node, false)
		p.clients = append(p.clients, client)
		parts.Nodes = append(parts.Nodes, client)
	}
	parts.Client = p.clients[0]
	p.notifier = dao.NewNotifier(p.clients[0])
	parts.Notifier = p.notifier
	p.locker = row.New(parts)
	return p
}

// Lock is a request of another buyer each time.
func (p *ownProcess) Lock(ctx context.Context) (Held, error) {
	owner := lock.Owner(strconv.FormatInt(p.calls.Add(1), 10)) // unique in the process; the museum's server makes it so
	lease, err := p.locker.Lock(ctx, owner)
	if err != nil {
		return nil, err
	}
	return ownHeld{lease}, nil
}

func (p *ownProcess) Close() {
	_ = p.notifier.Close() // as below
	for _, client := range p.clients {
		_ = client.Close() // there is nothing behind it
	}
}

type ownHeld struct{ lease *lock.Lease }

func (h ownHeld) Valid() bool { return h.lease.Context().Err() == nil }

func (h ownHeld) Unlock(ctx context.Context) error { return h.lease.Unlock(ctx) }
