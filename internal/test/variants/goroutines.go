package variants

import (
	"context"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
)

// goroutines are locks with a goroutine that stays, or that does too much.
func goroutines() []Variant {
	slow := once("expiry")
	slow.Work = 25 * time.Second
	return []Variant{
		{
			Name: "a renewer for each nested call", Lock: polls(renewerEach), Scenario: explore.Scenario{Nested: 1},
			Shows: anomaly.GoroutineLeak, Steps: 6,
		},
		{Name: "a renewer that never ends", Lock: polls(renewerForEver), Shows: anomaly.GoroutineLeak, Steps: 4},
		{Name: "a renewer that ends with its next renewal", Lock: polls(renewerEndsLate), Shows: anomaly.GoroutineLeak, Steps: 4},
		{Name: "a goroutine that waits for nothing", Lock: polls(waitsForNothing), Shows: anomaly.GoroutineLeak, Steps: 5},
		{Name: "a renewer that renews whosever lock it is", Lock: polls(renewsAny), Scenario: slow, Shows: anomaly.ForeignRelease, Steps: 8},
		{Name: "a renewer that takes the lock again", Lock: polls(renewsBySet), Scenario: slow, Shows: anomaly.ForeignRelease, Steps: 4},
		{
			Name: "a release that overtakes the request", Lock: ofTake(registersApart(false)), Scenario: once("late-start", "cancel"),
			Shows: anomaly.Idle, Steps: 7,
		},
		{
			Name: "a timer that releases later", Lock: polls(releasesLater), Scenario: explore.Scenario{Work: 2 * time.Second},
			Shows: anomaly.ForeignRelease, Steps: 10,
		},
	}
}

// renew calls extend every third of the expiry, until it is stopped or extend says no.
func (p process) renew(extend func(context.Context) bool) (stop context.CancelFunc) {
	ctx, stop := context.WithCancel(context.Background())
	p.Clock.Go("renew", func() {
		for ours := true; ours; {
			ours = lock.Sleep(ctx, p.Clock, p.TTL/3) == nil && extend(ctx)
		}
	})
	return stop
}

// renewing is a lock that is renewed, and what unlocks it.
func renewing(p process, extend func(ctx context.Context, owner string) bool, unlocks func(owner string, stop func()) unlock) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		if err := p.take(ctx, owner); err != nil {
			return nil, err
		}
		return unlocks(owner, p.renew(func(ctx context.Context) bool { return extend(ctx, owner) })), nil
	}
}

// extend sets the expiry again if the lock is the owner's.
func (p process) extend(ctx context.Context, owner string) bool {
	ours, err := p.script(ctx, `return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2]) or 0`,
		nil, owner, p.ttl)
	return err == nil && ours == 1
}

// stopping is how to unlock a lock that is renewed.
func (p process) stopping(owner string, stop func()) unlock {
	return func(ctx context.Context) error {
		stop()
		return p.release(owner)(ctx)
	}
}

// renewerEach starts a renewer in each call, and keeps what stops the last one.
func renewerEach(p process) ask {
	stop := map[string]func(){}
	return func(ctx context.Context, owner string) (unlock, error) {
		got, err := p.script(ctx, enter+"return 1", nil, owner, p.ttl)
		if err == nil {
			err = obtained(got == 1)
		}
		if err != nil {
			return nil, err
		}
		stop[owner] = p.renew(func(ctx context.Context) bool {
			return p.client.PExpire(ctx, key, p.TTL).Err() == nil
		})
		return func(ctx context.Context) error {
			stop[owner]()
			return p.leave(owner)(ctx)
		}, nil
	}
}

func renewerForEver(p process) ask {
	return renewing(p,
		func(ctx context.Context, owner string) bool {
			p.extend(ctx, owner)
			return true
		},
		func(owner string, _ func()) unlock { return p.release(owner) })
}

func renewerEndsLate(p process) ask {
	return renewing(p, p.extend, func(owner string, _ func()) unlock { return p.release(owner) })
}

func waitsForNothing(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		p.Clock.Go("task", func() { _ = p.Clock.Wait(context.Background(), nil) })
		return p.release(owner), p.take(ctx, owner)
	}
}

func renewsAny(p process) ask {
	return renewing(p, func(ctx context.Context, _ string) bool { return p.client.PExpire(ctx, key, p.TTL).Err() == nil }, p.stopping)
}

func renewsBySet(p process) ask {
	return renewing(p, func(ctx context.Context, owner string) bool { return p.set(ctx, owner, "PX", p.ttl) == nil }, p.stopping)
}

// releasesLater gives the lock back by a timer, which does not ask whose it is.
func releasesLater(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		err := p.take(ctx, owner)
		if err == nil {
			p.Clock.AfterFunc(3*time.Second, func() { p.client.Del(context.Background(), key) })
		}
		return p.release(owner), err
	}
}

// rightGoroutines are locks whose goroutines do what they should.
func rightGoroutines() []Variant {
	return []Variant{
		{Name: "a release in line behind the request", Lock: ofTake(registersApart(true)), Scenario: once("late-start", "cancel")},
	}
}

// registersApart asks in goroutines, one after the other: in the order in which they are made, or else in that in which they begin.
func registersApart(asMade bool) func(process) take {
	return func(p process) take {
		last := make(chan struct{})
		close(last)
		next := func() (before, done chan struct{}) {
			before, done = last, make(chan struct{})
			last = done
			return before, done
		}
		apart := func(ctx context.Context, does unlock) (err error) {
			var before, done chan struct{}
			if asMade {
				before, done = next()
			}
			over := make(chan struct{})
			p.Clock.Go("task", func() {
				if !asMade {
					before, done = next()
				}
				uncut := context.WithoutCancel(ctx)
				_ = p.Clock.Wait(uncut, before)
				err = does(uncut)
				close(done)
				close(over)
			})
			if gone := p.Clock.Wait(ctx, over); gone != nil {
				return gone
			}
			return err
		}
		return func(ctx context.Context, owner string) (*lock.Lease, error) {
			return lock.Poll(ctx, p.Options, func() (*lock.Lease, error) {
				err := apart(ctx, func(ctx context.Context) error { return p.take(ctx, owner) })
				switch {
				case ctx.Err() != nil:
					_ = apart(context.WithoutCancel(ctx), p.release(owner))
					return nil, lock.WaitError(ctx, p.WaitTimeout)
				case err != nil:
					return nil, err
				}
				return p.lease(ctx, p.release(owner)), nil
			})
		}
	}
}
