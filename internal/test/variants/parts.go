package variants

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/internal/lock/strategy"
)

const key = lock.Key

// under names a key of a lock's own.
func under(name string) string { return "{" + key + "}:" + name }

// process is what the lock of one process has at hand.
type process struct {
	strategy.Parts
	client redis.UniversalClient
	ttl    int64 // milliseconds
}

// text sends a command, whose reply is a string; nil is "".
func (p process) text(ctx context.Context, command ...any) (string, error) {
	return replied(ctx, command, p.client.Do(ctx, command...).Text)
}

// number sends a command, whose reply is a number, or a string that is one; nil is 0.
func (p process) number(ctx context.Context, command ...any) (int64, error) {
	return replied(ctx, command, p.client.Do(ctx, command...).Int64)
}

// script runs a script on the lock's key, and others, whose reply is a number.
func (p process) script(ctx context.Context, script string, others []string, args ...any) (int64, error) {
	return replied(ctx, []any{"EVAL"}, p.client.Eval(ctx, script, append([]string{key}, others...), args...).Int64)
}

func replied[T any](ctx context.Context, command []any, result func() (T, error)) (T, error) {
	reply, err := result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return reply, rediserr.Classify(ctx, fmt.Sprint(command[0]), err)
	}
	return reply, nil
}

// take makes an attempt as v4's: SET NX with an expiry. It gives back what a lost reply may have obtained.
func (p process) take(ctx context.Context, owner string) error {
	return p.set(ctx, owner, "NX", "PX", p.ttl)
}

// takeForGood is the same without an expiry.
func (p process) takeForGood(ctx context.Context, owner string) error { return p.set(ctx, owner, "NX") }

func (p process) set(ctx context.Context, owner string, options ...any) error {
	reply, err := p.text(ctx, append([]any{"SET", key, owner}, options...)...)
	if err != nil {
		return lock.Undo(ctx, p.Clock, err, p.release(owner))
	}
	return obtained(reply == "OK")
}

// obtained is the error of an attempt.
func obtained(got bool) error {
	if got {
		return nil
	}
	return lock.ErrNotObtained
}

type unlock = func(context.Context) error

// release gives the lock back if it is the owner's: compare and delete.
func (p process) release(owner string) unlock {
	return p.giveBack(`local holder = redis.call('GET', KEYS[1])
		if not holder then return 0 elseif holder ~= ARGV[1] then return -1 end
		return redis.call('DEL', KEYS[1])`, owner)
}

// giveBack runs a script that gives the lock back: it answers 1, or 0 when nobody had it, or -1 when another has it.
func (p process) giveBack(script string, args ...any) unlock {
	return func(ctx context.Context) error {
		switch reply, err := p.script(ctx, script, nil, args...); {
		case err != nil:
			return err
		case reply == 0:
			return lock.ErrExpired
		case reply < 0:
			return lock.ErrNotOwner
		}
		return nil
	}
}

// does makes an unlock of a command whose reply does not matter.
func (p process) does(command ...any) unlock {
	return func(ctx context.Context) error {
		_, err := p.client.Do(ctx, command...).Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return rediserr.Classify(ctx, fmt.Sprint(command[0]), err)
		}
		return nil
	}
}

// nothing is an unlock that does nothing.
func nothing(context.Context) error { return nil }
