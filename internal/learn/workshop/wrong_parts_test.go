package workshop_test

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/internal/lock/strategy"
)

// wrong is a cure that learners try, and that is none.
type wrong struct {
	exercise int
	name     string
	lock     strategy.Strategy
	shows    explore.Anomaly
	steps    int // of the shortest schedule
}

// process is what the lock of one process has at hand.
type process struct{ strategy.Parts }

type (
	// unlock gives the lock back.
	unlock = func(context.Context) error
	// take tries once.
	take = func(ctx context.Context, owner string) (*lock.Lease, error)
)

// locker is a lock.Locker of its two methods.
type locker struct{ lock, try take }

func (l locker) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	return l.lock(ctx, owner)
}

func (l locker) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	return l.try(ctx, owner)
}

// waits makes a strategy of a lock that waits in its own way.
func waits(of func(process) take) strategy.Strategy {
	return strategy.Strategy{New: func(p strategy.Parts) lock.Locker {
		t := of(process{p})
		return locker{t, t}
	}}
}

// polls makes a strategy of a lock that tries again and again.
func polls(of func(process) take) strategy.Strategy {
	return strategy.Strategy{New: func(p strategy.Parts) lock.Locker {
		try := of(process{p})
		return locker{func(ctx context.Context, owner string) (*lock.Lease, error) {
			return lock.Poll(ctx, p.Options, func() (*lock.Lease, error) { return try(ctx, owner) })
		}, try}
	}}
}

// taking is a lock that is taken by SET NX with an expiry, with a release of its own.
func taking(of func(p process, request context.Context, owner string) unlock) strategy.Strategy {
	return polls(func(p process) take {
		return func(ctx context.Context, owner string) (*lock.Lease, error) {
			if err := p.set(ctx, owner, redis.SetArgs{Mode: "NX", TTL: p.TTL}); err != nil {
				return nil, err
			}
			return p.lease(ctx, of(p, ctx, owner)), nil
		}
	})
}

func (p process) lease(ctx context.Context, u unlock) *lock.Lease { return p.fenced(ctx, 0, u) }

func (p process) fenced(ctx context.Context, token int64, u unlock) *lock.Lease {
	return lock.NewLease(ctx, p.Clock, token, u)
}

// set takes the lock.
func (p process) set(ctx context.Context, value string, args redis.SetArgs) error {
	err := p.Client.SetArgs(ctx, p.Key, value, args).Err()
	switch {
	case errors.Is(err, redis.Nil):
		return lock.ErrNotObtained
	case err != nil:
		return rediserr.Classify(ctx, "SET", err)
	}
	return nil
}

// script runs a script whose reply is a number.
func (p process) script(ctx context.Context, text string, keys []string, args ...any) (int64, error) {
	reply, err := p.Client.Eval(ctx, text, append([]string{p.Key}, keys...), args...).Int64()
	if err != nil {
		return 0, rediserr.Classify(ctx, "EVAL", err)
	}
	return reply, nil
}

// delete deletes the lock, whosever it is.
func (p process) delete(ctx context.Context) error {
	deleted, err := p.Client.Del(ctx, p.Key).Result()
	if err != nil {
		return rediserr.Classify(ctx, "DEL", err)
	}
	return said(deleted)
}

// get gives the value of the lock, or fails with lock.ErrExpired.
func (p process) get(ctx context.Context) (string, error) {
	value, err := p.Client.Get(ctx, p.Key).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return "", lock.ErrExpired
	case err != nil:
		return "", rediserr.Classify(ctx, "GET", err)
	}
	return value, nil
}

// said is the error of an unlock: 1 released, 0 nobody's, -1 another's.
func said(reply int64) error {
	switch reply {
	case 0:
		return lock.ErrExpired
	case -1:
		return lock.ErrNotOwner
	}
	return nil
}

// release compares and deletes.
func (p process) release(value any) unlock {
	return p.releaseBy(`-- release
		local holder = redis.call('GET', KEYS[1])
		if not holder then return 0 elseif holder ~= ARGV[1] then return -1 end
		return redis.call('DEL', KEYS[1])`, value)
}

func (p process) releaseBy(script string, args ...any) unlock {
	return func(ctx context.Context) error {
		reply, err := p.script(ctx, script, nil, args...)
		if err != nil {
			return err
		}
		return said(reply)
	}
}

// entering is a reentrant lock, a hash of owner and count, with a way to take it and to give it back.
func entering(
	enter func(p process, ctx context.Context, owner string) error, leave func(p process, owner string) unlock,
) strategy.Strategy {
	return polls(func(p process) take {
		return func(ctx context.Context, owner string) (*lock.Lease, error) {
			if err := enter(p, ctx, owner); err != nil {
				return nil, err
			}
			return p.lease(ctx, leave(p, owner)), nil
		}
	})
}

// enter counts one more.
func (p process) enter(ctx context.Context, owner string) error {
	count, err := p.script(ctx, `-- enter
		if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
		redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
		redis.call('PEXPIRE', KEYS[1], ARGV[2])
		return 1`, nil, owner, p.TTL.Milliseconds())
	if err == nil && count == 0 {
		err = lock.ErrNotObtained
	}
	return err
}

// leave counts one less.
func (p process) leave(owner string) unlock {
	return p.releaseBy(`-- leave
		if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
		if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return -1 end
		if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) < 1 then redis.call('DEL', KEYS[1]) end
		return 1`, owner)
}

// renewed renews a lock every third of its expiry, under a context, as long as extend says yes.
func (p process) renewed(ctx context.Context, extend func(context.Context) bool) (ended <-chan struct{}) {
	end := make(chan struct{})
	p.Clock.Go(func() {
		defer close(end)
		for ours := true; ours; {
			ours = lock.Sleep(ctx, p.Clock, p.TTL/3) == nil && extend(ctx)
		}
	})
	return end
}

// extend sets the expiry again if the lock is the owner's.
func (p process) extend(ctx context.Context, owner string) bool {
	ours, err := p.script(ctx, `-- extend
		return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2]) or 0`, nil, owner, p.TTL.Milliseconds())
	return err == nil && ours == 1
}
