package variants

import (
	"context"
	"errors"
	"time"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore"
	"lockstep/internal/lock"
)

// waitingLocks lists locks whose waiters pause in their own way, or look at a clock.
func waitingLocks() []Variant {
	crash, work, idle := once("crash"), explore.Scenario{Work: 25 * time.Second}, []explore.Anomaly{anomaly.Idle}
	return []Variant{
		{Name: "two keys, in an order of its own", Lock: fromAttempt(eitherKeyFirst), Anomaly: anomaly.Stuck, Steps: 8},
		{Name: "watches the holder, a crash", Lock: fromAcquire(watchHolder), Scenario: crash},
		{Name: "watches the holder, long work", Lock: fromAcquire(watchHolder), Scenario: work, Anomaly: anomaly.TwoHolders, Steps: 17},
		{Name: "sleeps until the expiry that it saw", Lock: fromAcquire(sleepUntilExpiry), Anomaly: anomaly.Idle, Unjudged: idle},
	}
}

// eitherKeyFirst takes two keys, and keeps the first. Each process begins with another one.
func eitherKeyFirst(p process) attemptFunc {
	keys := []string{key, second}
	if p.Process != "A" {
		keys = []string{second, key}
	}
	has := 0
	return func(ctx context.Context, owner string) (releaseFunc, error) {
		for ; has < len(keys); has++ {
			status, err := p.text(ctx, "SET", keys[has], owner, "NX")
			if err = obtained(status == "OK", err); err != nil {
				return nil, err
			}
		}
		return p.command("DEL", key, second), nil
	}
}

// watchHolder takes the lock from an owner whose name it has read for longer than the expiry, by its own clock.
func watchHolder(p process) acquireFunc {
	const steal = `if (redis.call('GET', KEYS[1]) or '') ~= ARGV[3] then return 0 end
		redis.call('SET', KEYS[1], ARGV[1]) return 1`
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		seen, since := "", p.Clock.Now()
		return p.pollAt(ctx, owner, func() time.Duration { return p.TTL / 5 }, func(ctx context.Context, owner string) (releaseFunc, error) {
			holder, err := p.text(ctx, "GET", key)
			now := p.Clock.Now()
			if holder != seen {
				seen, since = holder, now
			}
			if err = obtained(holder == "" || now.Sub(since) > p.TTL, err); err != nil {
				return nil, err
			}
			return p.release(owner), p.obtain(ctx, steal, owner, holder)
		})
	}
}

func sleepUntilExpiry(p process) acquireFunc {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		pause := p.RetryInterval
		return p.pollAt(ctx, owner, func() time.Duration { return pause }, func(ctx context.Context, owner string) (releaseFunc, error) {
			err := p.take(ctx, owner)
			if errors.Is(err, lock.ErrNotObtained) {
				left, failed := p.number(ctx, "PTTL", key)
				pause = max(time.Duration(left)*time.Millisecond, p.RetryInterval)
				err = errors.Join(failed, err)
			}
			return p.release(owner), err
		})
	}
}

// notifiedLocks lists locks whose waiters wait for a message.
func notifiedLocks() []Variant {
	lost, three := once("lost-wake"), explore.Scenario{Actors: 3}
	return []Variant{
		{Name: "listens, and then asks", Lock: fromAcquire(listenFirst(process.wait))},
		{Name: "listens, and polls", Lock: fromAcquire(listenFirst(process.waitOneSecond)), Scenario: lost},
		{Name: "asks, and then listens", Lock: fromAcquire(listenLate), Anomaly: anomaly.Stuck, Steps: 6},
		{Name: "listens, and does not poll", Lock: fromAcquire(listenFirst(process.wait)), Scenario: lost, Anomaly: anomaly.Stuck, Steps: 8},
		{Name: "takes any message for the lock", Lock: fromAcquire(believeMessage), Scenario: three, Anomaly: anomaly.TwoHolders, Steps: 11},
	}
}

// listen returns a channel that holds a token once a message came.
func (p process) listen() (rung chan struct{}, stop func()) {
	rung = make(chan struct{}, 1)
	return rung, p.Notifier.Subscribe(channel, func(string) {
		select {
		case rung <- struct{}{}:
		default: // it holds one already
		}
	})
}

func (p process) releaseAndPublish(owner string) releaseFunc {
	return p.script(`if redis.call('GET', KEYS[1]) ~= ARGV[1] then return -1 end
		redis.call('DEL', KEYS[1]) redis.call('PUBLISH', '`+channel+`', 'free') return 1`, owner)
}

// retry makes one attempt after the other, with a pause after each in vain.
func (p process) retry(
	ctx context.Context, owner string, obtain func(context.Context, string) error, pause func() error,
) (*lock.Lease, error) {
	for {
		err := obtain(ctx, owner)
		if err == nil {
			return p.leaseUnless(ctx, nil, p.releaseAndPublish(owner))
		}
		if errors.Is(err, lock.ErrNotObtained) {
			err = pause()
		}
		if err != nil {
			return nil, err
		}
	}
}

// listenFirst begins to listen before it asks.
func listenFirst(pause func(p process, ctx context.Context, rung <-chan struct{}) error) func(process) acquireFunc {
	return func(p process) acquireFunc {
		return func(ctx context.Context, owner string) (*lock.Lease, error) {
			rung, stop := p.listen()
			defer stop()
			return p.retry(ctx, owner, p.take, func() error { return pause(p, ctx, rung) })
		}
	}
}

func (p process) wait(ctx context.Context, rung <-chan struct{}) error {
	return p.Clock.Wait(ctx, rung)
}

func (p process) waitOneSecond(ctx context.Context, rung <-chan struct{}) error {
	wait, stop := lock.WithTimeout(ctx, p.Clock, time.Second, lock.ErrTimeout)
	defer stop()
	_ = p.Clock.Wait(wait, rung)
	return ctx.Err()
}

func listenLate(p process) acquireFunc {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		return p.retry(ctx, owner, p.take, func() error {
			rung, stop := p.listen()
			defer stop()
			return p.Clock.Wait(ctx, rung)
		})
	}
}

func believeMessage(p process) acquireFunc {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		rung, stop := p.listen()
		defer stop()
		obtain := p.take
		return p.retry(ctx, owner, func(ctx context.Context, owner string) error { return obtain(ctx, owner) }, func() error {
			obtain = p.overwrite
			return p.Clock.Wait(ctx, rung)
		})
	}
}
