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
		{Name: "sleeps until the expiry that it saw, in pieces", Lock: ofTake(untilTheExpiryInPieces), Shows: anomaly.Idle, Steps: 6},
		{
			Name: "the work has to end after the lock has expired", Lock: ofTake(worksFor(11 * time.Second)),
			Scenario: once("expiry"), Shows: anomaly.TwoHolders, Steps: 3,
		},
		{
			Name: "unlock leaves it to the expiry, and waiters ask after each quarter of it", Lock: pollsEvery(2500*time.Millisecond, withoutUnlock),
			Shows: anomaly.Idle, Steps: 10,
		},
		{Name: "unlock renews it", Lock: polls(expiresAfter(10*time.Second, "PEXPIRE")), Shows: anomaly.Idle, Steps: 5},
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
		{Name: "asks again after each quarter of the expiry", Lock: pollsEvery(2500*time.Millisecond, setNX)},
		{Name: "unlock by an expiry of a millisecond", Lock: polls(expiresAfter(time.Millisecond, "PEXPIRE"))},
		{Name: "unlock by an expiry of a millisecond, and another value", Lock: polls(expiresAfter(time.Millisecond, "PSETEX"))},
		{Name: "kept for five seconds at least", Lock: polls(expiresAfter(5*time.Second, "PEXPIRE"))},
		{Name: "the work has to end before the lock expires", Lock: ofTake(worksFor(9 * time.Second)), Scenario: once("expiry")},
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

// untilTheExpiryInPieces sleeps for a quarter of the expiry, again and again, until the expiry that it saw has come.
func untilTheExpiryInPieces(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		return p.waits(ctx, owner, func() error { return p.take(ctx, owner) }, func() error {
			left, err := p.number(ctx, "PTTL", key)
			for piece := p.TTL / 4; err == nil && left > 0; left -= piece.Milliseconds() {
				err = lock.Sleep(ctx, p.Clock, piece)
			}
			return err
		})
	}
}

// expiresAfter leaves it to an expiry to unlock: its own one.
func expiresAfter(expiry time.Duration, command string) func(process) ask {
	return func(p process) ask {
		return func(ctx context.Context, owner string) (unlock, error) {
			set := []any{command, key, expiry.Milliseconds()}
			if command == "PSETEX" {
				set = append(set, "free")
			}
			return p.does(set...), p.take(ctx, owner)
		}
	}
}

var errTimeIsUp = errors.New("the time for the work is up")

// worksFor ends the context of the work after so long. Its token stops a write that was on its way by then.
func worksFor(most time.Duration) func(process) take {
	return func(p process) take {
		attempt := fencing(p)
		return func(ctx context.Context, owner string) (*lock.Lease, error) {
			return lock.Poll(ctx, p.Options, func() (*lock.Lease, error) {
				token, release, err := attempt(ctx, owner)
				if err != nil {
					return nil, err
				}
				work, stop := lock.WithTimeout(ctx, p.Clock, most, errTimeIsUp)
				return lock.NewLease(work, p.Clock, token, func(ctx context.Context) error {
					stop()
					return release(ctx)
				}), nil
			})
		}
	}
}
