package variants

import (
	"context"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/contrast"
	"lockstep/internal/lock/strategy"
)

// unchecked is no lock, and a sale that does not look whether its order is known.
func unchecked() strategy.Strategy {
	return strategy.Strategy{
		Scope: strategy.Nobody, Update: strategy.Unchecked,
		New: func(p strategy.Parts) lock.Locker { return contrast.NewNone(p.Options) },
	}
}

// textbook are the mistakes that every write-up warns of.
func textbook() []Variant {
	return []Variant{
		{Name: "no NX", Lock: polls(noNX), Shows: anomaly.TwoHolders, Steps: 2},
		{Name: "no NX, and a sale is lost", Lock: polls(noNX), Shows: anomaly.LostUpdate, Steps: 6},
		{Name: "no idempotency key", Lock: unchecked(), Scenario: once("resend"), Shows: anomaly.DoubleSale, Steps: 2},
		{Name: "no renewal", Lock: polls(setNX), Scenario: once("expiry"), Shows: anomaly.Untold, Steps: 4},
		{Name: "no fencing token", Lock: ofTake(renews), Scenario: once("pause"), Shows: anomaly.LostUpdate, Steps: 9},
		{Name: "no expiry", Lock: polls(noExpiry), Scenario: once("crash"), Shows: anomaly.Stuck, Steps: 3},
		{Name: "no expiry, left behind", Lock: polls(noExpiry), Scenario: once("crash"), Shows: anomaly.LeftBehind, Steps: 3},
		{Name: "expiry by a second command", Lock: polls(expiryLater), Scenario: once("crash"), Shows: anomaly.LeftBehind, Steps: 3},
		{Name: "no owner", Lock: polls(noOwner), Scenario: once("expiry"), Shows: anomaly.ForeignRelease, Steps: 6},
		{Name: "GET, then DEL", Lock: polls(getThenDelete), Scenario: once("expiry"), Shows: anomaly.ForeignRelease, Steps: 7},
		{Name: "GET, then SET", Lock: polls(getThenSet), Shows: anomaly.TwoHolders, Steps: 4},
		{Name: "SET with GET, and put back", Lock: polls(setWithGet), Shows: anomaly.ForeignRelease, Steps: 2},
		{
			Name: "expiry too short", Lock: polls(shortExpiry),
			Scenario: explore.Scenario{Work: 3 * time.Second}, Shows: anomaly.TwoHolders, Steps: 5,
		},
		{
			Name: "EXPIRE on each attempt", Lock: polls(expireOnEachAttempt), Scenario: once("crash"), Shows: anomaly.Stuck, Steps: 6,
		},
		{Name: "unlock of the request's context", Lock: polls(unlockOfTheRequest), Scenario: once("cancel"), Shows: anomaly.LeftBehind, Steps: 5},
		{Name: "unlock that ignores errors", Lock: polls(ignoresErrors), Scenario: once("lost-reply"), Shows: anomaly.LeftBehind, Steps: 6},
		{
			Name: "a deadline by the client's clock, and Redis's beside it", Lock: polls(deadlineOfTheClient),
			Scenario: explore.Scenario{Skew: 15 * time.Second}, Shows: anomaly.TwoHolders, Steps: 3,
		},
		{
			Name: "a deadline by Redis's clock, no renewal", Lock: polls(deadlineOfRedis),
			Scenario: explore.Scenario{Work: 25 * time.Second}, Shows: anomaly.TwoHolders, Steps: 6,
		},
		{Name: "no undo after a lost reply", Lock: polls(noUndo), Scenario: once("lost-reply"), Shows: anomaly.LeftBehind, Steps: 3},
	}
}

func noNX(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		return p.release(owner), p.set(ctx, owner, "PX", p.ttl)
	}
}

func noExpiry(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		return p.release(owner), p.takeForGood(ctx, owner)
	}
}

func expiryLater(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		err := p.takeForGood(ctx, owner)
		if err == nil {
			_, err = p.number(ctx, "PEXPIRE", key, p.ttl)
		}
		return p.release(owner), err
	}
}

func noOwner(p process) ask {
	return func(ctx context.Context, _ string) (unlock, error) { return p.does("DEL", key), p.take(ctx, "1") }
}

func getThenDelete(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		return func(ctx context.Context) error {
			switch holder, err := p.text(ctx, "GET", key); {
			case err != nil:
				return err
			case holder != owner:
				return lock.ErrNotOwner
			}
			return p.does("DEL", key)(ctx)
		}, p.take(ctx, owner)
	}
}

func getThenSet(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		holder, err := p.text(ctx, "GET", key)
		switch {
		case err != nil:
			return nil, err
		case holder != "":
			return nil, lock.ErrNotObtained
		}
		return p.release(owner), p.set(ctx, owner, "PX", p.ttl)
	}
}

// setWithGet writes over the lock to see whose it was.
func setWithGet(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		before, err := p.text(ctx, "GETSET", key, owner)
		switch {
		case err != nil:
			return nil, err
		case before != "":
			_ = p.set(ctx, before)
			return nil, lock.ErrNotObtained
		}
		return p.release(owner), nil
	}
}

func shortExpiry(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		return p.release(owner), p.set(ctx, owner, "NX", "PX", p.ttl/10)
	}
}

// expireOnEachAttempt prolongs the lock of whoever has it.
func expireOnEachAttempt(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		err := p.take(ctx, owner)
		_, _ = p.number(ctx, "PEXPIRE", key, p.ttl)
		return p.release(owner), err
	}
}

func unlockOfTheRequest(p process) ask {
	return func(request context.Context, owner string) (unlock, error) {
		return func(context.Context) error { return p.release(owner)(request) }, p.takeForGood(request, owner)
	}
}

func ignoresErrors(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		return func(ctx context.Context) error {
			if holder, _ := p.text(ctx, "GET", key); holder == owner {
				_, _ = p.number(ctx, "DEL", key)
			}
			return nil
		}, p.takeForGood(ctx, owner)
	}
}

func noUndo(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		reply, err := p.text(ctx, "SET", key, owner, "NX")
		if err == nil {
			err = obtained(reply == "OK")
		}
		return p.release(owner), err
	}
}
