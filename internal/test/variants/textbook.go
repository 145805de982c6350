package variants

import (
	"context"
	"errors"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/contrast"
	"lockstep/internal/strategy"
)

// textbookLocks lists locks that are one string in Redis, and the mistakes that every write-up warns of.
func textbookLocks() []Variant {
	cancel, crash, expiry, lost := once("cancel"), once("crash"), once("expiry"), once("lost-reply")
	setNX, forGood := fromSteps(process.take, process.release), fromSteps(process.takeForGood, process.release)
	return []Variant{
		{Name: "SET NX PX, compare and delete", Lock: setNX, Scenario: once("cancel", "lost-reply")},
		{Name: "no NX", Lock: fromSteps(process.overwrite, process.release), Anomaly: anomaly.TwoHolders, Steps: 2},
		{Name: "no idempotency key", Lock: unchecked(), Scenario: once("resend"), Anomaly: anomaly.DoubleSale, Steps: 2},
		{Name: "no renewal", Lock: setNX, Scenario: expiry, Anomaly: anomaly.Untold, Steps: 4},
		{Name: "no expiry", Lock: forGood, Scenario: crash, Anomaly: anomaly.Stuck, Steps: 3},
		{Name: "INCR, PEXPIRE", Lock: fromSteps(process.increment, process.remove), Scenario: crash, Refused: explore.ErrUndeclaredPoll},
		{Name: "no owner", Lock: fromSteps(process.take, process.remove), Scenario: expiry, Anomaly: anomaly.ForeignRelease, Steps: 6},
		{Name: "GET, DEL", Lock: fromSteps(process.take, process.getThenDelete), Scenario: expiry, Anomaly: anomaly.ForeignRelease, Steps: 7},
		{Name: "GET, SET", Lock: fromSteps(process.getThenSet, process.release), Anomaly: anomaly.TwoHolders, Steps: 4},
		{Name: "GETSET, and put back", Lock: fromSteps(process.setThenPutBack, process.release), Anomaly: anomaly.ForeignRelease, Steps: 2},
		{Name: "an expiry for all", Lock: fromSteps(process.takeOrLimit, process.release), Anomaly: anomaly.ForeignRelease, Steps: 3},
		{Name: "unlock by the request's context", Lock: fromAttempt(releaseByRequest), Scenario: cancel, Anomaly: anomaly.LeftBehind, Steps: 5},
		{Name: "no undo", Lock: fromSteps(process.takeWithoutUndo, process.release), Scenario: lost, Anomaly: anomaly.LeftBehind, Steps: 3},
		{Name: "silent unlock", Lock: fromSteps(process.take, process.releaseSilently), Scenario: expiry, Anomaly: anomaly.FalseWord, Steps: 5},
		{Name: "nil is an error", Lock: fromSteps(process.takeOrFail, process.release), Anomaly: anomaly.Progress, Steps: 2},
		{Name: "no unlock", Lock: fromSteps(process.take, process.keep), Anomaly: anomaly.Idle, Steps: 4},
		{Name: "no order", Lock: inOrder(setNX), Scenario: explore.Scenario{Sales: 3}, Anomaly: anomaly.Starved, Steps: 10},
	}
}

// unchecked makes a strategy without a lock, whose sale does not look whether its order is known.
func unchecked() strategy.Strategy {
	return strategy.Strategy{
		Scope: strategy.Nobody, Update: strategy.Unchecked,
		New: func(p strategy.Parts) lock.Locker { return contrast.NewNone(p.Options) },
	}
}

func (p process) increment(ctx context.Context, _ string) error {
	count, err := p.number(ctx, "INCR", key)
	if err == nil && count == 1 {
		_, err = p.number(ctx, "PEXPIRE", key, p.ttl)
	}
	return obtained(count == 1, err)
}

func (p process) getThenDelete(owner string) releaseFunc {
	return func(ctx context.Context) error {
		holder, err := p.text(ctx, "GET", key)
		if err == nil && holder != owner {
			err = lock.ErrNotOwner
		}
		if err != nil {
			return err
		}
		return p.remove(owner)(ctx)
	}
}

func (p process) getThenSet(ctx context.Context, owner string) error {
	holder, err := p.text(ctx, "GET", key)
	if err = obtained(holder == "", err); err != nil {
		return err
	}
	return p.overwrite(ctx, owner)
}

func (p process) setThenPutBack(ctx context.Context, owner string) error {
	before, err := p.text(ctx, "GETSET", key, owner)
	if err == nil && before != "" {
		_ = p.set(ctx, before)
	}
	return obtained(before == "", err)
}

// takeOrLimit has no expiry, and gives one to a lock that has none.
func (p process) takeOrLimit(ctx context.Context, owner string) error {
	err := p.takeForGood(ctx, owner)
	if errors.Is(err, lock.ErrNotObtained) {
		_, failed := p.number(ctx, "PEXPIRE", key, p.ttl, "NX")
		err = errors.Join(failed, err)
	}
	return err
}

func releaseByRequest(p process) attemptFunc {
	return func(request context.Context, owner string) (releaseFunc, error) {
		return func(context.Context) error { return p.release(owner)(request) }, p.takeForGood(request, owner)
	}
}

func (p process) takeWithoutUndo(ctx context.Context, owner string) error {
	status, err := p.text(ctx, "SET", key, owner, "NX")
	return obtained(status == "OK", err)
}

func (p process) releaseSilently(owner string) releaseFunc {
	return func(ctx context.Context) error {
		_ = p.release(owner)(ctx)
		return nil
	}
}

func (p process) takeOrFail(ctx context.Context, owner string) error {
	return p.client.Do(ctx, "SET", key, owner, "NX", "PX", p.ttl).Err()
}

// inOrder promises that who asks first gets the lock first.
func inOrder(s strategy.Strategy) strategy.Strategy {
	s.Capabilities.InOrder = true
	return s
}
