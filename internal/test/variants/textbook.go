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

// textbookLocks lists locks that are a string in Redis, with the mistakes that tutorials warn of.
func textbookLocks() []Variant {
	cancel, crash, expiry, lost := oneOfEach("cancel"), oneOfEach("crash"), oneOfEach("expiry"), oneOfEach("lost-reply")
	setNX, forGood := fromFuncs(process.setNX, process.compareAndDelete), fromFuncs(process.setNXWithoutExpiry, process.compareAndDelete)
	return []Variant{
		{Name: "SET NX PX, compare and delete", Lock: setNX, Scenario: oneOfEach("cancel", "lost-reply")},
		{Name: "no NX", Lock: fromFuncs(process.overwrite, process.compareAndDelete), Anomaly: anomaly.TwoHolders, Steps: 2},
		{Name: "no idempotency key", Lock: withoutIdempotencyKey(), Scenario: oneOfEach("resend"), Anomaly: anomaly.DoubleSale, Steps: 2},
		{Name: "no renewal", Lock: setNX, Scenario: expiry, Anomaly: anomaly.Untold, Steps: 4},
		{Name: "no expiry", Lock: forGood, Scenario: crash, Anomaly: anomaly.Stuck, Steps: 3},
		{Name: "INCR, PEXPIRE", Lock: fromFuncs(process.increment, process.delete), Scenario: crash, Refused: explore.ErrUndeclaredPoll},
		{Name: "no owner", Lock: fromFuncs(process.setNX, process.delete), Scenario: expiry, Anomaly: anomaly.ForeignRelease, Steps: 6},
		{Name: "GET, DEL", Lock: fromFuncs(process.setNX, process.getThenDelete), Scenario: expiry, Anomaly: anomaly.ForeignRelease, Steps: 7},
		{Name: "GET, SET", Lock: fromFuncs(process.getThenSet, process.compareAndDelete), Anomaly: anomaly.TwoHolders, Steps: 4},
		{
			Name: "GETSET, and put back", Lock: fromFuncs(process.setThenPutBack, process.compareAndDelete), Anomaly: anomaly.ForeignRelease,
			Steps: 2,
		},
		{
			Name: "an expiry for all", Lock: fromFuncs(process.setNXOrExpireOther, process.compareAndDelete), Anomaly: anomaly.ForeignRelease,
			Steps: 3,
		},
		{Name: "unlock by the request's context", Lock: fromAttempt(releaseByRequest), Scenario: cancel, Anomaly: anomaly.LeftBehind, Steps: 5},
		{
			Name: "no undo", Lock: fromFuncs(process.setNXWithoutUndo, process.compareAndDelete), Scenario: lost, Anomaly: anomaly.LeftBehind,
			Steps: 3,
		},
		{Name: "silent unlock", Lock: fromFuncs(process.setNX, process.releaseSilently), Scenario: expiry, Anomaly: anomaly.FalseWord, Steps: 5},
		{Name: "nil is an error", Lock: fromFuncs(process.setNXOrError, process.compareAndDelete), Anomaly: anomaly.Progress, Steps: 2},
		{Name: "no unlock", Lock: fromFuncs(process.setNX, process.neverRelease), Anomaly: anomaly.Idle, Steps: 4},
		{Name: "no order", Lock: promiseOrder(setNX), Scenario: explore.Scenario{Sales: 3}, Anomaly: anomaly.Starved, Steps: 10},
	}
}

// withoutIdempotencyKey returns a strategy without a lock, whose sale does not check whether its order exists.
func withoutIdempotencyKey() strategy.Strategy {
	return strategy.Strategy{
		Scope: strategy.Nobody, Update: strategy.Unchecked,
		New: func(p strategy.Parts) lock.Locker { return contrast.NewNone(p.Options) },
	}
}

// increment locks by INCR, and sets the expiry by a second command.
func (p process) increment(ctx context.Context, _ string) error {
	count, err := p.doInt(ctx, "INCR", key)
	if err == nil && count == 1 {
		_, err = p.doInt(ctx, "PEXPIRE", key, p.ttl)
	}
	return obtained(count == 1, err)
}

// getThenDelete reads the owner by one command, and deletes the lock by another.
func (p process) getThenDelete(owner string) releaseFunc {
	return func(ctx context.Context) error {
		holder, err := p.doString(ctx, "GET", key)
		if err == nil && holder != owner {
			err = lock.ErrNotOwner
		}
		if err != nil {
			return err
		}
		return p.delete(owner)(ctx)
	}
}

// getThenSet reads whether the lock is free by one command, and sets it by another.
func (p process) getThenSet(ctx context.Context, owner string) error {
	holder, err := p.doString(ctx, "GET", key)
	if err = obtained(holder == "", err); err != nil {
		return err
	}
	return p.overwrite(ctx, owner)
}

// setThenPutBack sets the lock by GETSET, and puts the previous owner back if there was one.
func (p process) setThenPutBack(ctx context.Context, owner string) error {
	before, err := p.doString(ctx, "GETSET", key, owner)
	if err == nil && before != "" {
		_ = p.set(ctx, before)
	}
	return obtained(before == "", err)
}

// setNXOrExpireOther locks without an expiry, and sets one on the lock of another owner.
func (p process) setNXOrExpireOther(ctx context.Context, owner string) error {
	err := p.setNXWithoutExpiry(ctx, owner)
	if errors.Is(err, lock.ErrNotObtained) {
		_, failed := p.doInt(ctx, "PEXPIRE", key, p.ttl, "NX")
		err = errors.Join(failed, err)
	}
	return err
}

// releaseByRequest releases with the context of the request, which may have ended.
func releaseByRequest(p process) attemptFunc {
	return func(request context.Context, owner string) (releaseFunc, error) {
		return func(context.Context) error { return p.compareAndDelete(owner)(request) }, p.setNXWithoutExpiry(request, owner)
	}
}

// setNXWithoutUndo locks without an expiry. If the reply is lost, it does not remove the lock that it may have obtained.
func (p process) setNXWithoutUndo(ctx context.Context, owner string) error {
	status, err := p.doString(ctx, "SET", key, owner, "NX")
	return obtained(status == "OK", err)
}

// releaseSilently is like compareAndDelete, but hides its errors.
func (p process) releaseSilently(owner string) releaseFunc {
	return func(ctx context.Context) error {
		_ = p.compareAndDelete(owner)(ctx)
		return nil
	}
}

// setNXOrError is like setNX without classified errors: it does not report a held lock as lock.ErrNotObtained.
func (p process) setNXOrError(ctx context.Context, owner string) error {
	return p.client.Do(ctx, "SET", key, owner, "NX", "PX", p.ttl).Err()
}

// promiseOrder makes a strategy promise that waiters are served in order.
func promiseOrder(s strategy.Strategy) strategy.Strategy {
	s.Capabilities.InOrder = true
	return s
}
