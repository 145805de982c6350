package variants

import (
	"context"
	"errors"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/strategy"
)

// words are locks that say what is not so, or fail, or stay away, although nothing went wrong.
func words() []Variant {
	return []Variant{
		{
			Name: "unlock says nil, whosever it was", Lock: polls(unlockNil), Scenario: once("expiry"), Shows: anomaly.FalseWord, Steps: 5,
		},
		{Name: "unlock says expired, though it was held", Lock: polls(unlockExpired), Shows: anomaly.FalseWord, Steps: 4},
		{
			Name: "held by another, says the first try", Lock: polls(falselyHeld),
			Scenario: explore.Scenario{Try: 1}, Shows: anomaly.FalseWord, Steps: 2,
		},
		{Name: "gives up after 2 attempts", Lock: timeoutAfter(2), Shows: anomaly.Progress, Steps: 4},
		{Name: "takes a nil reply for an error", Lock: polls(nilIsAnError), Shows: anomaly.Progress, Steps: 2},
		{Name: "Lock tries once", Lock: ofTake(triesOnce), Shows: anomaly.Progress, Steps: 2},
		{Name: "unlock leaves it to the expiry", Lock: polls(withoutUnlock), Shows: anomaly.Idle, Steps: 4},
		{
			Name: "unlock under the request's context, with an expiry", Lock: polls(unlockOfTheRequestAndExpiry),
			Scenario: once("cancel"), Shows: anomaly.Idle, Steps: 4,
		},
		{
			Name: "the last that came is the first that goes", Lock: inOrder(ofTake(stack)),
			Scenario: explore.Scenario{Sales: 3}, Shows: anomaly.Starved, Steps: 12,
		},
	}
}

// inOrder makes a strategy promise that who asks first gets it first.
func inOrder(s strategy.Strategy) strategy.Strategy {
	s.Capabilities.InOrder = true
	return s
}

func unlockNil(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		return func(ctx context.Context) error {
			_ = p.release(owner)(ctx)
			return nil
		}, p.take(ctx, owner)
	}
}

func unlockExpired(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		return func(ctx context.Context) error { return errors.Join(lock.ErrExpired, p.release(owner)(ctx)) }, p.take(ctx, owner)
	}
}

// falselyHeld gives its first attempt back, and says that another has the lock.
func falselyHeld(p process) ask {
	warm := false
	return func(ctx context.Context, owner string) (unlock, error) {
		err := p.take(ctx, owner)
		if err == nil && !warm {
			warm = true
			return nil, errors.Join(p.release(owner)(ctx), lock.ErrNotObtained)
		}
		return p.release(owner), err
	}
}

func timeoutAfter(n int) strategy.Strategy {
	return countsFailures(n, func(process) ask {
		return func(context.Context, string) (unlock, error) { return nil, lock.ErrTimeout }
	})
}

func nilIsAnError(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		return p.release(owner), p.client.Do(ctx, "SET", key, owner, "NX", "PX", p.ttl).Err()
	}
}

func triesOnce(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		if err := p.take(ctx, owner); err != nil {
			return nil, err
		}
		return p.lease(ctx, p.release(owner)), nil
	}
}

func withoutUnlock(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) { return nothing, p.take(ctx, owner) }
}

func unlockOfTheRequestAndExpiry(p process) ask {
	return func(request context.Context, owner string) (unlock, error) {
		return func(context.Context) error { return p.release(owner)(request) }, p.take(request, owner)
	}
}

// stack gives the lock to the one that came last.
func stack(p process) take {
	waits := under("stack")
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		came := "LPUSH"
		err := p.until(ctx, func() (bool, error) {
			got, err := p.script(ctx, `if ARGV[2] ~= '' then redis.call(ARGV[2], KEYS[2], ARGV[1]) end
				if redis.call('LINDEX', KEYS[2], 0) ~= ARGV[1] then return 0 end
				return redis.call('SET', KEYS[1], ARGV[1], 'NX') and redis.call('LREM', KEYS[2], 1, ARGV[1]) or 0`, []string{waits}, owner, came)
			came = ""
			return got == 1, err
		})
		if err != nil {
			return nil, err
		}
		return p.lease(ctx, p.release(owner)), nil
	}
}
