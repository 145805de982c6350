package variants

import (
	"context"
	"errors"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
)

// pollers are waiters who sleep for longer than the retry interval, beside a lock that will never be free, and waiters who keep each
// other out.
func pollers() []Variant {
	return []Variant{
		{
			Name: "polls every 21 ms beside a dead holder", Lock: pollsEvery(21*time.Millisecond, noExpiry), Scenario: once("crash"),
			Shows: anomaly.Stuck, Steps: 4,
		},
		{
			Name: "polls every 50 ms after a lost reply", Lock: pollsEvery(50*time.Millisecond, noUndo), Scenario: once("lost-reply"),
			Shows: anomaly.Stuck, Steps: 4,
		},
		{
			Name: "polls every second a lock that is not given back", Lock: pollsEvery(time.Second, neverReleases),
			Shows: anomaly.Stuck, Steps: 6,
		},
		{
			Name: "polls with pauses that grow", Lock: ofTake(growingPauses), Scenario: once("crash"),
			Shows: anomaly.Stuck, Steps: 4,
		},
		{
			Name: "polls by two commands, every 30 ms", Lock: pollsEvery(30*time.Millisecond, readingTheOwner), Scenario: once("crash"),
			Shows: anomaly.Stuck, Steps: 6,
		},
		{Name: "looks at the clock on each poll", Lock: polls(looksAtTheClock), Scenario: once("crash"), Shows: anomaly.Stuck, Steps: 4},
		{
			Name: "looks at the clock every 30 ms", Lock: pollsEvery(30*time.Millisecond, looksAtTheClock), Scenario: once("crash"),
			Shows: anomaly.Stuck, Steps: 4,
		},
		{
			Name: "after you", Lock: polls(afterYou),
			Shows: anomaly.Stuck, Steps: 8,
		},
		{
			Name: "after you, every 30 ms", Lock: pollsEvery(30*time.Millisecond, afterYou),
			Shows: anomaly.Stuck, Steps: 14,
		},
		{
			Name: "looks three times whether it is free", Lock: polls(looksThreeTimes),
			Scenario: explore.Scenario{Polls: explore.NoPolls}, Shows: anomaly.TwoHolders, Steps: 8,
		},
		{
			Name: "keeps for good what was late, but for its first attempt", Lock: polls(withoutLateUnlock), Scenario: once("expiry"),
			Shows: anomaly.LeftBehind, Steps: 13,
		},
		{Name: "two keys, in an order of its own", Lock: polls(eitherKeyFirst), Shows: anomaly.Stuck, Steps: 6},
	}
}

func neverReleases(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) { return nothing, p.takeForGood(ctx, owner) }
}

func growingPauses(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		pause := p.RetryInterval
		return lock.PollAt(ctx, p.Options, func() time.Duration {
			pause = min(2*pause, 80*time.Millisecond)
			return pause
		}, func() (*lock.Lease, error) {
			if err := p.takeForGood(ctx, owner); err != nil {
				return nil, err
			}
			return p.lease(ctx, p.release(owner)), nil
		})
	}
}

func readingTheOwner(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		err := p.takeForGood(ctx, owner)
		if errors.Is(err, lock.ErrNotObtained) {
			_, _ = p.text(ctx, "GET", key)
		}
		return p.release(owner), err
	}
}

func looksAtTheClock(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		_ = p.Clock.Now()
		return p.release(owner), p.takeForGood(ctx, owner)
	}
}

// looksThreeTimes asks the same, and is told the same, but after each pause it does something else.
func looksThreeTimes(p process) ask {
	free := func(ctx context.Context) error {
		holder, err := p.text(ctx, "GET", key)
		if err == nil {
			err = obtained(holder == "")
		}
		return err
	}
	return func(ctx context.Context, owner string) (unlock, error) {
		err := free(ctx)
		if err == nil {
			_ = lock.Sleep(ctx, p.Clock, p.RetryInterval)
			err = free(ctx)
		}
		if err == nil {
			_ = lock.Sleep(ctx, p.Clock, p.RetryInterval)
			err = free(ctx)
		}
		if err == nil {
			err = p.set(ctx, owner)
		}
		return p.release(owner), err
	}
}

// withoutLateUnlock never gives back a lock that took long to obtain, unless it did so at once.
func withoutLateUnlock(p process) ask {
	again := false
	return func(ctx context.Context, owner string) (unlock, error) {
		may, began := again, p.Clock.Now()
		again = true
		if err := p.take(ctx, owner); err != nil {
			return nil, err
		}
		if took := p.Clock.Now().Sub(began); may && took > p.TTL/2 {
			return p.does("PERSIST", key), nil
		}
		return p.release(owner), nil
	}
}

// afterYou gives way to whoever waits too, who does the same.
func afterYou(p process) ask {
	waits := under("waits")
	return func(ctx context.Context, owner string) (unlock, error) {
		if _, err := p.number(ctx, "SADD", waits, owner); err != nil {
			return nil, err
		}
		got, err := p.script(ctx, `local all = redis.call('SMEMBERS', KEYS[2])
			if #all == 1 then return redis.call('SET', KEYS[1], ARGV[1], 'NX') and redis.call('SREM', KEYS[2], ARGV[1]) or 0 end
			redis.call('SET', KEYS[3], all[1] == ARGV[1] and all[2] or all[1])
			return 0`, []string{waits, under("turn")}, owner)
		if err == nil {
			err = obtained(got == 1)
		}
		return p.release(owner), err
	}
}

// eitherKeyFirst takes two locks, and each process in another order.
func eitherKeyFirst(p process) ask {
	first, second := key, under("second")
	if p.Process != "A" {
		first, second = second, first
	}
	has := false // the first
	return func(ctx context.Context, owner string) (unlock, error) {
		for _, name := range []string{first, second} {
			if name == first && has {
				continue
			}
			reply, err := p.text(ctx, "SET", name, owner, "NX")
			if err == nil {
				err = obtained(reply == "OK")
			}
			if err != nil {
				return nil, err
			}
			has = true
		}
		return p.does("DEL", first, second), nil
	}
}
