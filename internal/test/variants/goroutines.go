package variants

import (
	"context"
	"time"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// goroutineLocks lists locks that do something beside a sale, or after it.
func goroutineLocks() []Variant {
	crash, slow, pause, short := once("crash"), once("expiry"), once("pause"), explore.Scenario{Work: 2 * time.Second}
	crash.Work, slow.Work = 25*time.Second, 25*time.Second
	return []Variant{
		{Name: "renewed", Lock: withRenewal(process.extend, true), Scenario: crash},
		{Name: "renewed, a pause", Lock: withRenewal(process.extend, true), Scenario: pause, Anomaly: anomaly.LostUpdate, Steps: 9},
		{Name: "a renewal that never ends", Lock: withRenewal(process.extend, false), Anomaly: anomaly.GoroutineLeak, Steps: 4},
		{Name: "a renewal of any lock", Lock: withRenewal(process.extendAny, true), Scenario: slow, Anomaly: anomaly.ForeignRelease, Steps: 8},
		{Name: "a timer that deletes the lock", Lock: fromAttempt(deleteLater), Scenario: short, Anomaly: anomaly.ForeignRelease, Steps: 10},
		{Name: "a session of the process", Lock: session(true)},
		{Name: "a session that nobody ends", Lock: session(false), Anomaly: anomaly.GoroutineLeak, Steps: 4},
	}
}

// renew calls extend each third of the expiry, until stop is called or extend returns false.
func (p process) renew(extend func(context.Context) bool) (stop context.CancelFunc) {
	ctx, stop := context.WithCancel(context.Background())
	p.Clock.Go("renew", func() {
		for extended := true; extended; {
			extended = lock.Sleep(ctx, p.Clock, p.TTL/3) == nil && extend(ctx)
		}
	})
	return stop
}

func (p process) extend(ctx context.Context, owner string) bool {
	const script = `return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2]) or 0`
	return p.obtain(ctx, script, owner) == nil
}

func (p process) extendAny(ctx context.Context, _ string) bool {
	return p.client.PExpire(ctx, key, p.TTL).Err() == nil
}

// withRenewal makes a lock that is renewed. Its unlock may stop that.
func withRenewal(extend func(p process, ctx context.Context, owner string) bool, stops bool) strategy.Strategy {
	return fromAttempt(func(p process) attemptFunc {
		return func(ctx context.Context, owner string) (releaseFunc, error) {
			if err := p.take(ctx, owner); err != nil {
				return nil, err
			}
			stop := p.renew(func(ctx context.Context) bool { return extend(p, ctx, owner) })
			return func(ctx context.Context) error {
				if stops {
					stop()
				}
				return p.release(owner)(ctx)
			}, nil
		}
	})
}

func deleteLater(p process) attemptFunc {
	return func(ctx context.Context, owner string) (releaseFunc, error) {
		err := p.take(ctx, owner)
		if err == nil {
			p.Clock.AfterFunc(3*time.Second, func() { p.client.Del(context.Background(), key) })
		}
		return p.release(owner), err
	}
}

// keeper is a lock whose process keeps something beyond its sales.
type keeper struct {
	lock.Locker

	end func(context.Context) error
}

// Close implements lock.Closer.
func (k keeper) Close(ctx context.Context) error { return k.end(ctx) }

// session makes a lock whose process renews a key of its own from its first sale on. Its Close may end that.
func session(ends bool) strategy.Strategy {
	return fromLocker(func(p process) lock.Locker {
		var stop context.CancelFunc
		own := under("session:" + p.Process)
		locks := fromSteps(func(p process, ctx context.Context, owner string) error {
			err := p.take(ctx, owner)
			if err == nil && stop == nil {
				stop = p.renew(func(ctx context.Context) bool { return p.client.Set(ctx, own, p.Process, p.TTL).Err() == nil })
			}
			return err
		}, process.release)
		return keeper{locks.New(p.Parts), func(context.Context) error {
			if ends && stop != nil {
				stop()
			}
			return nil
		}}
	})
}
