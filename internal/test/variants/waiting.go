package variants

import (
	"context"
	"errors"
	"time"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore"
	"lockstep/internal/lock"
)

// waitingLocks lists locks that wait in unusual ways: with a key already held, by a clock of their own, or until an expiry.
func waitingLocks() []Variant {
	crash, work, idle := oneOfEach("crash"), explore.Scenario{Work: 25 * time.Second}, []explore.Anomaly{anomaly.Idle}
	return []Variant{
		{Name: "two keys, in an order of its own", Lock: fromAttempt(lockTwoKeys), Anomaly: anomaly.Stuck, Steps: 8},
		{Name: "watches the holder, a crash", Lock: fromAcquire(watchHolder), Scenario: crash},
		{Name: "watches the holder, long work", Lock: fromAcquire(watchHolder), Scenario: work, Anomaly: anomaly.TwoHolders, Steps: 17},
		{Name: "sleeps until the expiry that it saw", Lock: fromAcquire(sleepUntilExpiry), Anomaly: anomaly.Idle, Unjudged: idle},
	}
}

// lockTwoKeys locks two keys, and keeps the first while it waits for the second. The two processes begin with different keys.
func lockTwoKeys(p process) attemptFunc {
	keys := []string{key, second}
	if p.Process != "A" {
		keys = []string{second, key}
	}
	held := 0
	return func(ctx context.Context, owner string) (releaseFunc, error) {
		for ; held < len(keys); held++ {
			status, err := p.doString(ctx, "SET", keys[held], owner, "NX")
			if err = obtained(status == "OK", err); err != nil {
				return nil, err
			}
		}
		return p.releaseByCommand("DEL", key, second), nil
	}
}

// watchHolder takes the lock over when its own clock has shown the same owner for longer than the expiry.
func watchHolder(p process) acquireFunc {
	const steal = `if (redis.call('GET', KEYS[1]) or '') ~= ARGV[3] then return 0 end
		redis.call('SET', KEYS[1], ARGV[1]) return 1`
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		seen, since := "", p.Clock.Now()
		return p.pollAt(ctx, owner, func() time.Duration { return p.TTL / 5 }, func(ctx context.Context, owner string) (releaseFunc, error) {
			holder, err := p.doString(ctx, "GET", key)
			now := p.Clock.Now()
			if holder != seen {
				seen, since = holder, now
			}
			if err = obtained(holder == "" || now.Sub(since) > p.TTL, err); err != nil {
				return nil, err
			}
			return p.compareAndDelete(owner), p.obtainByScript(ctx, steal, owner, holder)
		})
	}
}

// sleepUntilExpiry sleeps, between two attempts, for the remaining time to live of the lock that it found.
func sleepUntilExpiry(p process) acquireFunc {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		pause := p.RetryInterval
		return p.pollAt(ctx, owner, func() time.Duration { return pause }, func(ctx context.Context, owner string) (releaseFunc, error) {
			err := p.setNX(ctx, owner)
			if errors.Is(err, lock.ErrNotObtained) {
				left, failed := p.doInt(ctx, "PTTL", key)
				pause = max(time.Duration(left)*time.Millisecond, p.RetryInterval)
				err = errors.Join(failed, err)
			}
			return p.compareAndDelete(owner), err
		})
	}
}

// notifiedLocks lists locks whose waiters are notified by a message.
func notifiedLocks() []Variant {
	lost, three := oneOfEach("lost-wake"), explore.Scenario{Actors: 3}
	return []Variant{
		{Name: "listens, and then asks", Lock: fromAcquire(subscribeFirst(process.wait))},
		{Name: "listens, and polls", Lock: fromAcquire(subscribeFirst(process.waitOneSecond)), Scenario: lost},
		{Name: "asks, and then listens", Lock: fromAcquire(subscribeLate), Anomaly: anomaly.Stuck, Steps: 6},
		{Name: "listens, and does not poll", Lock: fromAcquire(subscribeFirst(process.wait)), Scenario: lost, Anomaly: anomaly.Stuck, Steps: 8},
		{Name: "takes any message for the lock", Lock: fromAcquire(trustAnyMessage), Scenario: three, Anomaly: anomaly.TwoHolders, Steps: 11},
	}
}

// subscribe returns a channel that holds one token after one or more messages.
func (p process) subscribe() (notified chan struct{}, stop func()) {
	notified = make(chan struct{}, 1)
	return notified, p.Notifier.Subscribe(channel, func(string) {
		select {
		case notified <- struct{}{}:
		default: // there is a token already
		}
	})
}

// releaseAndPublish deletes the lock and publishes a message, in one script.
func (p process) releaseAndPublish(owner string) releaseFunc {
	return p.releaseByScript(`if redis.call('GET', KEYS[1]) ~= ARGV[1] then return -1 end
		redis.call('DEL', KEYS[1]) redis.call('PUBLISH', '`+channel+`', 'free') return 1`, owner)
}

// retry repeats an attempt, and calls pause after each failed one.
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

// subscribeFirst subscribes before its first attempt.
func subscribeFirst(pause func(p process, ctx context.Context, notified <-chan struct{}) error) func(process) acquireFunc {
	return func(p process) acquireFunc {
		return func(ctx context.Context, owner string) (*lock.Lease, error) {
			notified, stop := p.subscribe()
			defer stop()
			return p.retry(ctx, owner, p.setNX, func() error { return pause(p, ctx, notified) })
		}
	}
}

// wait waits for a message.
func (p process) wait(ctx context.Context, notified <-chan struct{}) error {
	return p.Clock.Wait(ctx, notified)
}

// waitOneSecond waits for a message, but no longer than a second.
func (p process) waitOneSecond(ctx context.Context, notified <-chan struct{}) error {
	wait, stop := lock.WithTimeout(ctx, p.Clock, time.Second, lock.ErrTimeout)
	defer stop()
	_ = p.Clock.Wait(wait, notified)
	return ctx.Err()
}

// subscribeLate subscribes after a failed attempt, so that it may miss the message.
func subscribeLate(p process) acquireFunc {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		return p.retry(ctx, owner, p.setNX, func() error {
			notified, stop := p.subscribe()
			defer stop()
			return p.Clock.Wait(ctx, notified)
		})
	}
}

// trustAnyMessage overwrites the lock after any message.
func trustAnyMessage(p process) acquireFunc {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		notified, stop := p.subscribe()
		defer stop()
		obtain := p.setNX
		return p.retry(ctx, owner, func(ctx context.Context, owner string) error { return obtain(ctx, owner) }, func() error {
			obtain = p.overwrite
			return p.Clock.Wait(ctx, notified)
		})
	}
}
