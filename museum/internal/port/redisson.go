// Package port has locks of libraries in other languages. They are written for the museum, from the description of what these libraries
// do: none of their code is in here, and only the behaviour that is described is.
package port

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// What the ports tell their callers.
var (
	ErrTaken    = errors.New("another one has the lock")
	ErrUnlocked = errors.New("the lock is not locked")
)

// Redisson is the reentrant lock of Redisson as its users describe it: a hash that counts how often its owner holds it, and a watchdog
// that renews it from the reply on for as long as the count is not 0.
type Redisson struct {
	client *redis.Client
	key    string
	lease  time.Duration

	take, prolong, give *redis.Script
}

// NewRedisson makes one.
func NewRedisson(client *redis.Client, key string, lease time.Duration) *Redisson {
	return &Redisson{
		client: client, key: key, lease: lease,
		take: redis.NewScript(`
			if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
			redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
			redis.call('PEXPIRE', KEYS[1], ARGV[2])
			return 1`),
		prolong: redis.NewScript(`
			if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
			return redis.call('PEXPIRE', KEYS[1], ARGV[2])`),
		give: redis.NewScript(`
			if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return -1 end
			if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) > 0 then
				redis.call('PEXPIRE', KEYS[1], ARGV[2])
				return 0
			end
			return redis.call('DEL', KEYS[1])`),
	}
}

// RedissonLock is a lock that was taken.
type RedissonLock struct {
	of      *Redisson
	owner   string
	stopped chan struct{} // the watchdog is to stop
}

// TryLock tries once. The caller waits for the reply until ctx ends; what happens on the reply happens then, too.
func (r *Redisson) TryLock(ctx context.Context, owner string) (*RedissonLock, error) {
	type outcome struct {
		lock *RedissonLock
		err  error
	}
	replied := make(chan outcome, 1)
	go func() {
		lock, err := r.tryLock(owner)
		replied <- outcome{lock, err}
	}()
	select {
	case o := <-replied:
		return o.lock, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (r *Redisson) tryLock(owner string) (*RedissonLock, error) {
	took, err := r.take.Run(context.Background(), r.client, []string{r.key}, owner, r.lease.Milliseconds()).Bool()
	switch {
	case err != nil:
		return nil, err
	case !took:
		return nil, ErrTaken
	}
	l := &RedissonLock{r, owner, make(chan struct{})}
	go l.watch()
	return l, nil
}

// watch renews the lock at every third of its lease, until it is given back or somebody else has it.
func (l *RedissonLock) watch() {
	ticker := time.NewTicker(l.of.lease / 3)
	defer ticker.Stop()
	for {
		select {
		case <-l.stopped:
			return
		case <-ticker.C:
			kept, err := l.of.prolong.Run(context.Background(), l.of.client, []string{l.of.key}, l.owner, l.of.lease.Milliseconds()).Bool()
			if err == nil && !kept || errors.Is(err, redis.ErrClosed) {
				return
			}
		}
	}
}

// Unlock counts down, and ends the watchdog if that gave the lock back.
func (l *RedissonLock) Unlock(ctx context.Context) error {
	left, err := l.of.give.Run(ctx, l.of.client, []string{l.of.key}, l.owner, l.of.lease.Milliseconds()).Int()
	switch {
	case err != nil:
		return err
	case left != 0:
		close(l.stopped)
	}
	if left < 0 {
		return ErrUnlocked
	}
	return nil
}
