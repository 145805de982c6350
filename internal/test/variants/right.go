package variants

import (
	"context"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
)

// right are locks that do what they promise, in the scenario beside them.
func right() []Variant {
	nested, three := explore.Scenario{Nested: 1}, explore.Scenario{Actors: 3}
	crash := once("crash")
	crash.Work = 25 * time.Second
	return []Variant{
		{Name: "SET NX PX", Lock: polls(setNX)},
		{Name: "SET NX PX, three", Lock: polls(setNX), Scenario: three},
		{Name: "SET NX PX, a crash", Lock: polls(setNX), Scenario: once("crash")},
		{Name: "SET NX PX, a cancel and a lost reply", Lock: polls(setNX), Scenario: once("cancel", "lost-reply")},
		{Name: "an id by chance, a lost reply", Lock: polls(idByChance), Scenario: once("lost-reply")},
		{Name: "an expiry for a lock that has none", Lock: polls(expiryForAll)},
		{Name: "an expiry for a lock that has none, a crash", Lock: polls(expiryForAll), Scenario: once("crash")},
		{Name: "a deadline by Redis's clock", Lock: polls(deadlineOfRedis)},
		{Name: "a deadline by Redis's clock, other clocks off", Lock: polls(deadlineOfRedis), Scenario: explore.Scenario{Skew: 15 * time.Second}},
		{Name: "a deadline by Redis's clock, a crash", Lock: polls(deadlineOfRedis), Scenario: once("crash")},
		{Name: "a ticket", Lock: ofTake(tickets)},
		{Name: "a ticket beside the key", Lock: ofTake(ticketsAndKey)},
		{Name: "a line", Lock: ofTake(line(true, popOnce))},
		{Name: "a line, a cancel", Lock: ofTake(line(true, popOnce)), Scenario: once("cancel")},
		{Name: "a line in the lock's own key", Lock: ofTake(lineInTheKey)},
		{Name: "a sorted set of waiters", Lock: polls(sortedSet)},
		{Name: "a token in a list", Lock: polls(tokenInAList)},
		{Name: "a hash that counts", Lock: polls(hash), Scenario: nested},
		{Name: "two keys", Lock: polls(twoKeys)},
		{Name: "WATCH, then SET", Lock: polls(watches)},
		{Name: "who may undo each other, and need not for ever", Lock: polls(politely)},
		{Name: "renewed", Lock: ofTake(renews), Scenario: crash},
		{Name: "fenced", Lock: fenced(fencing)},
	}
}

func setNX(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) { return p.release(owner), p.take(ctx, owner) }
}

// ticketsAndKey takes a ticket, and, when it is served, the key too.
func ticketsAndKey(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		lease, err := tickets(p)(ctx, owner)
		if err != nil {
			return nil, err
		}
		if err := p.takeForGood(ctx, owner); err != nil {
			return nil, err
		}
		return lease.With(func(ctx context.Context) error { return errors.Join(p.release(owner)(ctx), lease.Unlock(ctx)) }), nil
	}
}

// lineInTheKey is a line whose list is the lock's key: the first in it is the holder.
func lineInTheKey(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		if _, err := p.number(ctx, "RPUSH", key, owner); err != nil {
			return nil, err
		}
		err := p.until(ctx, func() (bool, error) {
			first, err := p.text(ctx, "LINDEX", key, 0)
			return first == owner, err
		})
		if err != nil {
			return nil, err
		}
		return p.lease(ctx, p.does("LREM", key, 1, owner)), nil
	}
}

// sortedSet gives the lock to the first of those who wait, by the order in which Redis saw them.
func sortedSet(p process) ask {
	waits := under("waits")
	return func(ctx context.Context, owner string) (unlock, error) {
		got, err := p.script(ctx, `
			if not redis.call('ZSCORE', KEYS[2], ARGV[1]) then
				redis.call('ZADD', KEYS[2], redis.call('ZCARD', KEYS[2]), ARGV[1])
			end
			if redis.call('ZRANK', KEYS[2], ARGV[1]) > 0 then return 0 end
			if not redis.call('SET', KEYS[1], ARGV[1], 'NX') then return 0 end
			return redis.call('ZREM', KEYS[2], ARGV[1])`, []string{waits}, owner)
		if err == nil {
			err = obtained(got == 1)
		}
		return p.release(owner), err
	}
}

// tokenInAList takes the only token, which is made once.
func tokenInAList(p process) ask {
	pool := under("pool")
	return func(ctx context.Context, _ string) (unlock, error) {
		got, err := p.script(ctx, `if redis.call('SETNX', KEYS[3], 1) == 1 then redis.call('RPUSH', KEYS[2], 'token') end
			return redis.call('LPOP', KEYS[2]) and 1 or 0`, []string{pool, under("made")})
		if err == nil {
			err = obtained(got == 1)
		}
		return p.does("RPUSH", pool, "token"), err
	}
}

func hash(p process) ask { return counted(p, p.leave) }

// twoKeys takes two keys, in one order, and gives the first back if it does not get the second.
func twoKeys(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		if err := p.take(ctx, owner); err != nil {
			return nil, err
		}
		second := under("second")
		reply, err := p.text(ctx, "SET", second, owner, "NX", "PX", p.ttl)
		if err == nil && reply != "OK" {
			return nil, errors.Join(p.release(owner)(ctx), lock.ErrNotObtained)
		}
		return func(ctx context.Context) error { return errors.Join(p.does("DEL", second)(ctx), p.release(owner)(ctx)) }, err
	}
}

// watches sees that the key is free, and takes it if it is free still.
func watches(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		err := p.client.Watch(ctx, func(tx *redis.Tx) error {
			if held, err := tx.Exists(ctx, key).Result(); err != nil || held == 1 {
				return errors.Join(err, lock.ErrNotObtained)
			}
			_, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error { return pipe.Set(ctx, key, owner, p.TTL).Err() })
			return err
		}, key)
		if errors.Is(err, redis.TxFailedErr) {
			err = lock.ErrNotObtained
		}
		return p.release(owner), err
	}
}

// politely counts itself in, and out again if it is not alone. Two who do that in step keep each other out, until one comes first.
func politely(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		if _, err := p.number(ctx, "SADD", key, owner); err != nil {
			return nil, err
		}
		leave := p.does("SREM", key, owner)
		in, err := p.number(ctx, "SCARD", key)
		if err == nil && in > 1 {
			return nil, errors.Join(leave(ctx), lock.ErrNotObtained)
		}
		return leave, err
	}
}

func renews(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		return lock.Poll(ctx, p.Options, func() (*lock.Lease, error) {
			if err := p.take(ctx, owner); err != nil {
				return nil, err
			}
			return p.renewed(ctx, owner, p.release(owner)), nil
		})
	}
}

func fencing(p process) asksFenced {
	return func(ctx context.Context, owner string) (int64, unlock, error) {
		token, err := p.script(ctx, `if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end
			return redis.call('INCR', KEYS[2])`, []string{under("token")}, owner, p.ttl)
		if err == nil {
			err = obtained(token > 0)
		}
		return token, p.release(owner), err
	}
}

// idByChance has an id of its own instead of the owner's name.
func idByChance(p process) ask {
	return func(ctx context.Context, _ string) (unlock, error) {
		id := strconv.FormatInt(p.Rand(math.MaxInt64), 36)
		return p.release(id), p.take(ctx, id)
	}
}

// expiryForAll gives the lock an expiry by a second command, and so do all who find it without one.
func expiryForAll(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		got, err := p.number(ctx, "SETNX", key, owner)
		if err == nil {
			_, err = p.number(ctx, "EXPIRE", key, p.ttl/1000, "NX")
		}
		if err == nil {
			err = obtained(got == 1)
		}
		return p.release(owner), err
	}
}
