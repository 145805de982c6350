// Package consumer has a lock as a program has it, over one client or another. It knows nothing of the test.
package consumer

import (
	"context"
	"crypto/rand"
	"errors"
	"time"
)

// Client sends a command. It gives nil if Redis does, and otherwise a string or an int64.
type Client interface {
	Do(ctx context.Context, command ...string) (any, error)
}

// Lock is SET NX PX, polled, and a release: by DEL, or by a script that compares.
type Lock struct {
	Client   Client
	Key      string
	Compares bool
}

const (
	ttl    = "1000" // ms
	pause  = 100 * time.Millisecond
	script = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`
)

// Lease is a lock that is held.
type Lease struct {
	lock  Lock
	owner string
	until time.Time
}

// Acquire waits for the lock.
func (l Lock) Acquire(ctx context.Context) (*Lease, error) {
	for {
		lease := &Lease{l, rand.Text(), time.Now().Add(time.Second)}
		switch reply, err := l.Client.Do(ctx, "SET", l.Key, lease.owner, "PX", ttl, "NX"); {
		case err != nil && l.Compares:
			return nil, errors.Join(err, lease.undo(ctx)) // it may be ours
		case err != nil:
			return nil, err
		case reply != nil:
			return lease, nil
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (l *Lease) undo(ctx context.Context) (err error) {
	for range 3 {
		if err = l.Release(context.WithoutCancel(ctx)); err == nil {
			return nil
		}
	}
	return err
}

// Release gives it back.
func (l *Lease) Release(ctx context.Context) (err error) {
	if l.lock.Compares {
		_, err = l.lock.Client.Do(ctx, "EVAL", script, "1", l.lock.Key, l.owner)
	} else {
		_, err = l.lock.Client.Do(ctx, "DEL", l.lock.Key)
	}
	return err
}

// InTime reports whether it has not expired.
func (l *Lease) InTime() bool { return time.Now().Before(l.until) }
