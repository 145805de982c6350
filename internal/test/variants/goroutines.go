package variants

import (
	"context"
	"time"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// goroutineLocks lists locks that act in goroutines of their own, during a sale or after it.
func goroutineLocks() []Variant {
	crash, slow, pause, short := oneOfEach("crash"), oneOfEach("expiry"), oneOfEach("pause"), explore.Scenario{Work: 2 * time.Second}
	crash.Work, slow.Work = 25*time.Second, 25*time.Second
	return []Variant{
		{Name: "renewed", Lock: withRenewal(process.extend, true), Scenario: crash},
		{Name: "renewed, a pause", Lock: withRenewal(process.extend, true), Scenario: pause, Anomaly: anomaly.LostUpdate, Steps: 9},
		{Name: "a renewal that never ends", Lock: withRenewal(process.extend, false), Anomaly: anomaly.GoroutineLeak, Steps: 4},
		{
			Name: "a renewal of any lock", Lock: withRenewal(process.extendUnchecked, true), Scenario: slow, Anomaly: anomaly.ForeignRelease,
			Steps: 8,
		},
		{Name: "a timer that deletes the lock", Lock: fromAttempt(deleteLater), Scenario: short, Anomaly: anomaly.ForeignRelease, Steps: 10},
		{Name: "a session of the process", Lock: session(true)},
		{Name: "a session that nobody ends", Lock: session(false), Anomaly: anomaly.GoroutineLeak, Steps: 4},
	}
}

// renew calls extend in a goroutine, each third of the expiry, until stop is called or extend returns false.
func (p process) renew(extend func(context.Context) bool) (stop context.CancelFunc) {
	ctx, stop := context.WithCancel(context.Background())
	p.Clock.Go("renew", func() {
		for extended := true; extended; {
			extended = lock.Sleep(ctx, p.Clock, p.TTL/3) == nil && extend(ctx)
		}
	})
	return stop
}

// extend renews the lock of an owner.
func (p process) extend(ctx context.Context, owner string) bool {
	const script = `return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2]) or 0`
	return p.obtainByScript(ctx, script, owner) == nil
}

// extendUnchecked renews the lock, whoever holds it.
func (p process) extendUnchecked(ctx context.Context, _ string) bool {
	return p.client.PExpire(ctx, key, p.TTL).Err() == nil
}

// withRenewal returns a lock with renewal. If stops, unlock ends the renewal.
func withRenewal(extend func(p process, ctx context.Context, owner string) bool, stops bool) strategy.Strategy {
	return fromAttempt(func(p process) attemptFunc {
		return func(ctx context.Context, owner string) (releaseFunc, error) {
			if err := p.setNX(ctx, owner); err != nil {
				return nil, err
			}
			stop := p.renew(func(ctx context.Context) bool { return extend(p, ctx, owner) })
			return func(ctx context.Context) error {
				if stops {
					stop()
				}
				return p.compareAndDelete(owner)(ctx)
			}, nil
		}
	})
}

// deleteLater deletes the lock after three seconds, whoever holds it.
func deleteLater(p process) attemptFunc {
	return func(ctx context.Context, owner string) (releaseFunc, error) {
		err := p.setNX(ctx, owner)
		if err == nil {
			p.Clock.AfterFunc(3*time.Second, func() { p.client.Del(context.Background(), key) })
		}
		return p.compareAndDelete(owner), err
	}
}

// closingLocker is a locker that has to be closed.
type closingLocker struct {
	lock.Locker

	close func(context.Context) error // does the work of Close
}

// Close implements lock.Closer.
func (k closingLocker) Close(ctx context.Context) error { return k.close(ctx) }

// session returns a lock whose process renews a key of its own, from its first sale on. If ends, Close ends that renewal.
func session(ends bool) strategy.Strategy {
	return fromLocker(func(p process) lock.Locker {
		var stop context.CancelFunc
		own := keyBeside("session:" + p.Process)
		locks := fromFuncs(func(p process, ctx context.Context, owner string) error {
			err := p.setNX(ctx, owner)
			if err == nil && stop == nil {
				stop = p.renew(func(ctx context.Context) bool { return p.client.Set(ctx, own, p.Process, p.TTL).Err() == nil })
			}
			return err
		}, process.compareAndDelete)
		return closingLocker{locks.New(p.Parts), func(context.Context) error {
			if ends && stop != nil {
				stop()
			}
			return nil
		}}
	})
}
