package variants

import (
	"context"
	"errors"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/strategy"
)

// memory are locks that decide by what they remember, of a call or of a process.
func memory() []Variant {
	oneProcess := explore.Scenario{Replicas: 1}
	return []Variant{
		{Name: "steals after 1 attempt", Lock: stealsAfter(1), Shows: anomaly.TwoHolders, Steps: 3},
		{Name: "steals after 2 attempts", Lock: stealsAfter(2), Shows: anomaly.TwoHolders, Steps: 4},
		{Name: "steals after 3 attempts", Lock: stealsAfter(3), Shows: anomaly.TwoHolders, Steps: 5},
		{
			Name: "breaks the lock after 1 attempt", Lock: breaksAfter(1), Shows: anomaly.ForeignRelease, Steps: 3,
		},
		{Name: "breaks the lock after 2 attempts", Lock: breaksAfter(2), Shows: anomaly.ForeignRelease, Steps: 4},
		{Name: "breaks the lock after 3 attempts", Lock: breaksAfter(3), Shows: anomaly.ForeignRelease, Steps: 5},
		{Name: "goes in after 1 attempt", Lock: unlockedAfter(1), Shows: anomaly.TwoHolders, Steps: 2},
		{Name: "goes in after 2 attempts", Lock: unlockedAfter(2), Shows: anomaly.TwoHolders, Steps: 3},
		{Name: "goes in after 3 attempts", Lock: unlockedAfter(3), Shows: anomaly.TwoHolders, Steps: 4},
		{Name: "goes in after 5 attempts", Lock: unlockedAfter(5), Shows: anomaly.TwoHolders, Steps: 6},
		{Name: "steals after 8 attempts", Lock: stealsAfter(8), Shows: anomaly.TwoHolders, Steps: 10},
		{Name: "breaks the lock after 12 attempts", Lock: breaksAfter(12), Shows: anomaly.ForeignRelease, Steps: 14},
		{Name: "gives up after 12 attempts", Lock: countsFailures(12, unavailable), Shows: anomaly.Progress, Steps: 14},
		{
			Name: "steals after 10 attempts, from one of three", Lock: stealsAfter(10),
			Scenario: explore.Scenario{Actors: 3}, Shows: anomaly.TwoHolders, Steps: 12,
		},
		{Name: "believes after 1 undone attempt", Lock: believesAfter(1), Shows: anomaly.TwoHolders, Steps: 4},
		{Name: "believes after 2 undone attempts", Lock: believesAfter(2), Shows: anomaly.TwoHolders, Steps: 6},
		{
			Name: "steals after 2 attempts of the process", Lock: polls(processSteals),
			Scenario: explore.Scenario{Actors: 3, Replicas: 2}, Shows: anomaly.TwoHolders, Steps: 5,
		},
		{Name: "has it, says a flag", Lock: polls(flagOfTheProcess), Scenario: oneProcess, Shows: anomaly.TwoHolders, Steps: 3},
		{Name: "was free, says a flag", Lock: polls(flagThatItIsFree), Scenario: oneProcess, Shows: anomaly.TwoHolders, Steps: 5},
		{
			Name: "is held, says the first reply for ever", Lock: pollsAnew(flagThatItIsHeld), Shows: anomaly.Stuck, Steps: 6,
		},
		{
			Name: "steals from a holder that it has watched for long", Lock: ofTake(watchesTheHolder),
			Scenario: explore.Scenario{Work: 25 * time.Second}, Shows: anomaly.TwoHolders, Steps: 12,
		},
		{
			Name: "waits out the expiry that it read, and takes it", Lock: ofTake(waitsOutTheExpiry),
			Scenario: explore.Scenario{Work: 25 * time.Second}, Shows: anomaly.TwoHolders, Steps: 12,
		},
	}
}

// countsFailures makes an attempt as usual, but does something else once so many attempts of one call have failed.
func countsFailures(n int, otherwise func(process) ask) strategy.Strategy {
	return pollsAnew(func(p process) func() ask {
		return func() ask {
			failed := 0
			return func(ctx context.Context, owner string) (unlock, error) {
				if failed == n {
					return otherwise(p)(ctx, owner)
				}
				err := p.take(ctx, owner)
				if errors.Is(err, lock.ErrNotObtained) {
					failed++
				}
				return p.release(owner), err
			}
		}
	})
}

func unavailable(process) ask {
	return func(context.Context, string) (unlock, error) { return nil, lock.ErrUnavailable }
}

func stealsAfter(n int) strategy.Strategy { return countsFailures(n, noNX) }

// breaksAfter takes the holder for dead.
func breaksAfter(n int) strategy.Strategy {
	return countsFailures(n, func(p process) ask {
		return func(ctx context.Context, owner string) (unlock, error) {
			if _, err := p.number(ctx, "DEL", key); err != nil {
				return nil, err
			}
			return p.release(owner), p.take(ctx, owner)
		}
	})
}

// unlockedAfter would rather sell without the lock than not at all.
func unlockedAfter(n int) strategy.Strategy {
	return pollsAnew(func(p process) func() ask {
		return func() ask {
			failed := 0
			return func(ctx context.Context, owner string) (unlock, error) {
				err := p.take(ctx, owner)
				if errors.Is(err, lock.ErrNotObtained) {
					if failed++; failed == n {
						return nothing, nil
					}
				}
				return p.release(owner), err
			}
		}
	})
}

// believesAfter counts itself in, and out again if it is not alone; but it remembers having been in.
func believesAfter(n int) strategy.Strategy {
	return pollsAnew(func(p process) func() ask {
		return func() ask {
			undone := 0
			return func(ctx context.Context, owner string) (unlock, error) {
				leave := p.does("SREM", key, owner)
				alone, err := p.script(ctx, `redis.call('SADD', KEYS[1], ARGV[1]) return redis.call('SCARD', KEYS[1])`, nil, owner)
				if err != nil || alone == 1 || undone == n {
					return leave, err
				}
				undone++
				return nil, errors.Join(leave(ctx), lock.ErrNotObtained)
			}
		}
	})
}

func processSteals(p process) ask {
	failed := 0
	return func(ctx context.Context, owner string) (unlock, error) {
		err := p.take(ctx, owner)
		if errors.Is(err, lock.ErrNotObtained) {
			if failed++; failed == 2 {
				return noNX(p)(ctx, owner)
			}
		}
		return p.release(owner), err
	}
}

func flagOfTheProcess(p process) ask {
	mine := false
	return func(ctx context.Context, owner string) (unlock, error) {
		if mine {
			return nothing, nil
		}
		err := p.take(ctx, owner)
		mine = err == nil
		return func(ctx context.Context) error {
			mine = false
			return p.release(owner)(ctx)
		}, err
	}
}

func flagThatItIsFree(p process) ask {
	free := false
	return func(ctx context.Context, owner string) (unlock, error) {
		if free {
			return noNX(p)(ctx, owner)
		}
		attempt, err := getThenSet(p)(ctx, owner)
		free = err == nil
		return attempt, err
	}
}

func flagThatItIsHeld(p process) func() ask {
	return func() ask {
		held := false
		return func(ctx context.Context, owner string) (unlock, error) {
			if held {
				return nil, lock.ErrNotObtained
			}
			err := p.take(ctx, owner)
			held = err != nil
			return p.release(owner), err
		}
	}
}

// waitsOutTheExpiry reads how long the lock has still to live, and does not ask whether it was renewed meanwhile.
func waitsOutTheExpiry(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		unlock, err := setNX(p)(ctx, owner)
		if errors.Is(err, lock.ErrNotObtained) {
			left, _ := p.number(ctx, "PTTL", key)
			if err = lock.Sleep(ctx, p.Clock, time.Duration(left)*time.Millisecond); err == nil {
				unlock, err = noNX(p)(ctx, owner)
			}
		}
		if err != nil {
			return nil, err
		}
		return p.renewed(ctx, owner, unlock), nil
	}
}

// watchesTheHolder takes the lock from one whose name it has read for longer than the expiry, by its own clock.
func watchesTheHolder(p process) take {
	const steal = `if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
		redis.call('SET', KEYS[1], ARGV[2]) return 1`
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		seen, since := "", p.Clock.Now()
		return lock.PollAt(ctx, p.Options, func() time.Duration { return 2 * time.Second }, func() (*lock.Lease, error) {
			holder, err := p.text(ctx, "GET", key)
			now := p.Clock.Now()
			if holder != seen {
				seen, since = holder, now
			}
			if err == nil {
				err = obtained(holder == "" || now.Sub(since) > p.TTL)
			}
			if err != nil {
				return nil, err
			}
			got, err := p.script(ctx, steal, nil, holder, owner)
			if err == nil {
				err = obtained(got == 1)
			}
			return p.lease(ctx, p.release(owner)), err
		})
	}
}
