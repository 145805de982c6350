package variants

import (
	"context"
	"errors"
	"strings"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/strategy"
)

// shared are locks that more than one may hold: semaphores of 2, and read-write locks.
func shared() []Variant {
	three, four := explore.Scenario{Actors: 3}, explore.Scenario{Actors: 4}
	return []Variant{
		{
			Name: "a semaphore that counts, then takes", Lock: ofTwo(polls(countsThenTakes)), Scenario: three,
			Shows: explore.TwoHolders, Steps: 6,
		},
		{
			Name: "a semaphore that forgets by local clocks", Lock: ofTwo(polls(semaphoreByClock)),
			Scenario: explore.Scenario{Actors: 3, Skew: 15 * time.Second},
			Shows:    explore.TwoHolders, Steps: 3,
		},
		{
			Name: "a semaphore that gives back twice", Lock: ofTwo(polls(semaphoreGivenBackTwice)), Scenario: four,
			Shows: explore.TwoHolders, Steps: 7,
		},
		{Name: "a writer that does not look for readers", Lock: readWrite(blindWriter, reader), Shows: explore.TwoHolders, Steps: 2},
		{Name: "a reader that looks, then enters", Lock: readWrite(writer, hastyReader), Shows: explore.TwoHolders, Steps: 3},
		{
			Name: "a reader that counts the others out, too", Lock: readWrite(writer, carelessReader), Scenario: four,
			Shows: explore.TwoHolders, Steps: 6,
		},
	}
}

// atomically makes the sale of a strategy safe without a lock, so that two holders do no harm.
func atomically(s strategy.Strategy) strategy.Strategy {
	s.Update = strategy.Atomic
	return s
}

const places = 2 // of a semaphore

// ofTwo makes a semaphore of a lock. It guards a sale that needs no lock.
func ofTwo(s strategy.Strategy) strategy.Strategy {
	s.Sharing.Places = places
	return atomically(s)
}

func countsThenTakes(p process) ask {
	return func(ctx context.Context, _ string) (unlock, error) {
		taken, err := p.number(ctx, "GET", key)
		if err == nil {
			err = obtained(taken < places)
		}
		if err == nil {
			_, err = p.number(ctx, "INCR", key)
		}
		return p.does("DECR", key), err
	}
}

// semaphoreByClock takes those for dead who came an expiry ago, by its own clock.
func semaphoreByClock(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		now := p.Clock.Now().UnixMilli()
		got, err := p.script(ctx, `redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[2] - ARGV[3])
			if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[4]) then return 0 end
			return redis.call('ZADD', KEYS[1], ARGV[2], ARGV[1])`, nil, owner, now, p.ttl, places)
		if err == nil {
			err = obtained(got == 1)
		}
		return p.does("ZREM", key, owner), err
	}
}

// semaphore counts who is in.
func semaphore(p process) ask {
	return func(ctx context.Context, _ string) (unlock, error) {
		got, err := p.script(ctx, `if tonumber(redis.call('GET', KEYS[1]) or 0) >= tonumber(ARGV[1]) then return 0 end
			return redis.call('INCR', KEYS[1])`, nil, places)
		if err == nil {
			err = obtained(got > 0)
		}
		return p.does("DECR", key), err
	}
}

func semaphoreGivenBackTwice(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		back, err := semaphore(p)(ctx, owner)
		return func(ctx context.Context) error { return errors.Join(back(ctx), back(ctx)) }, err
	}
}

// readWrite is a read-write lock. A, C, … write; B, D, … read, and may be inside together.
func readWrite(write, read func(process) ask) strategy.Strategy {
	s := polls(func(p process) ask {
		writes, reads := write(p), read(p)
		return func(ctx context.Context, owner string) (unlock, error) {
			if isReader(owner) {
				return reads(ctx, owner)
			}
			return writes(ctx, owner)
		}
	})
	s.Sharing.Shares = isReader
	return s
}

// isReader tells by the name of the sale.
func isReader(owner string) bool {
	name := strings.TrimPrefix(owner, lock.Owner(""))
	return name[0]%2 == 0
}

func blindWriter(p process) ask { return setNX(p) }

func writer(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		got, err := p.script(ctx, `if tonumber(redis.call('GET', KEYS[2]) or 0) > 0 then return 0 end
			return redis.call('SET', KEYS[1], ARGV[1], 'NX') and 1 or 0`, []string{under("readers")}, owner)
		if err == nil {
			err = obtained(got == 1)
		}
		return p.release(owner), err
	}
}

func reader(p process) ask {
	return func(ctx context.Context, _ string) (unlock, error) {
		got, err := p.script(ctx, `if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
			return redis.call('INCR', KEYS[2])`, []string{under("readers")})
		if err == nil {
			err = obtained(got > 0)
		}
		return p.does("DECR", under("readers")), err
	}
}

func hastyReader(p process) ask {
	return func(ctx context.Context, _ string) (unlock, error) {
		written, err := p.number(ctx, "EXISTS", key)
		if err == nil {
			err = obtained(written == 0)
		}
		if err == nil {
			_, err = p.number(ctx, "INCR", under("readers"))
		}
		return p.does("DECR", under("readers")), err
	}
}

// carelessReader resets the count of the readers when it leaves.
func carelessReader(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		_, err := reader(p)(ctx, owner)
		return p.does("DEL", under("readers")), err
	}
}
