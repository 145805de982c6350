package variants

import (
	"context"
	"errors"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
)

// sleepers are waiters who sleep although the lock is free, and locks that say that it is not.
func sleepers() []Variant {
	oneProcess := once("lost-reply")
	oneProcess.Replicas, oneProcess.Try = 1, 2
	return []Variant{
		{Name: "sleeps until the expiry that it saw", Lock: ofTake(untilTheExpiry), Shows: anomaly.Idle, Steps: 6},
		{
			Name: "listens, and asks again after the expiry", Lock: ofTake(listensFor(func(p process) time.Duration { return p.TTL })),
			Scenario: once("lost-wake"), Shows: anomaly.Idle, Steps: 8,
		},
		{
			Name: "held by another, says the second try, once one has failed", Lock: polls(heldAfterAFailure), Scenario: oneProcess,
			Shows: anomaly.FalseWord, Steps: 4,
		},
	}
}

// rightSleepers are right ones.
func rightSleepers() []Variant {
	try := func(faults ...string) explore.Scenario {
		s := once(faults...)
		s.Try = 1
		return s
	}
	return []Variant{
		{
			Name: "listens, and asks again after a quarter of the expiry", Scenario: once("lost-wake"),
			Lock: ofTake(listensFor(func(p process) time.Duration { return p.TTL / 4 })),
		},
		{Name: "tries beside one that dies", Lock: polls(setNX), Scenario: try("crash")},
		{Name: "tries beside one whose reply is lost", Lock: polls(setNX), Scenario: try("lost-reply")},
		{Name: "tries two keys beside one that dies", Lock: polls(twoKeys), Scenario: try("crash")},
	}
}

// untilTheExpiry asks how long the lock lives, and asks again after that.
func untilTheExpiry(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		pause := p.RetryInterval
		return lock.PollAt(ctx, p.Options, func() time.Duration { return pause }, func() (*lock.Lease, error) {
			err := p.take(ctx, owner)
			if errors.Is(err, lock.ErrNotObtained) {
				left, wrong := p.number(ctx, "PTTL", key)
				pause = max(time.Duration(left)*time.Millisecond, p.RetryInterval)
				err = errors.Join(wrong, err)
			}
			if err != nil {
				return nil, err
			}
			return p.lease(ctx, p.release(owner)), nil
		})
	}
}

// listensFor asks again by itself after so long.
func listensFor(pause func(process) time.Duration) func(process) take {
	return func(p process) take {
		return func(ctx context.Context, owner string) (*lock.Lease, error) {
			rung, stop := p.listen(channel)
			defer stop()
			return p.waits(ctx, owner, func() error { return p.take(ctx, owner) }, func() error {
				wait, stop := lock.WithTimeout(ctx, p.Clock, pause(p), lock.ErrTimeout)
				defer stop()
				_ = p.Clock.Wait(wait, rung)
				return ctx.Err()
			})
		}
	}
}

// heldAfterAFailure says of a lock that failed once that another has it.
func heldAfterAFailure(p process) ask {
	failed := false
	return func(ctx context.Context, owner string) (unlock, error) {
		if failed {
			return nil, lock.ErrNotObtained
		}
		err := p.take(ctx, owner)
		failed = err != nil && !errors.Is(err, lock.ErrNotObtained)
		return p.release(owner), err
	}
}
