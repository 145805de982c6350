package library

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/evolution"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// Own is a step of lockstep, for comparison.
func Own(step string) Library {
	return Library{
		Name: step, Key: Key, Nodes: 1,
		Usage: "expiry 1s, retry interval 100ms, `Lock`, `Unlock`; the client sends a command once",
		Open: func(dial Dial) (Process, error) {
			row, err := evolution.Find(step)
			if err != nil {
				return nil, fmt.Errorf("the step %s: %w", step, err)
			}
			client := goRedis(dial, 0, false)
			return &ownProcess{client: client, locker: row.New(strategy.Parts{
				Client: client,
				Options: lock.Options{
					Key: Key, TTL: ownTTL, RetryInterval: Poll, WaitTimeout: ownPatience, Clock: lock.SystemClock{},
				},
			})}, nil
		},
	}
}

const (
	ownTTL      = time.Second
	ownPatience = time.Hour
)

type ownProcess struct {
	client *redis.Client
	locker lock.Locker
	owners
}

// Lock is a request of another buyer each time.
func (p *ownProcess) Lock(ctx context.Context) (Held, error) {
	lease, err := p.locker.Lock(ctx, p.next())
	if err != nil {
		return nil, err
	}
	return ownHeld{lease}, nil
}

func (p *ownProcess) Close() { _ = p.client.Close() } // there is nothing behind it

type ownHeld struct{ lease *lock.Lease }

func (h ownHeld) Valid() bool { return h.lease.Context().Err() == nil }

func (h ownHeld) Unlock(ctx context.Context) error { return h.lease.Unlock(ctx) }
