package variants

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/internal/strategy"
)

const (
	key     = lock.Key
	channel = key + ":free"
	first   = "{" + key + "}:first"  // KEYS[2] of each script
	second  = "{" + key + "}:second" // KEYS[3] of each script
)

// under returns the name of a key beside the lock's.
func under(name string) string { return "{" + key + "}:" + name }

// process is what the lock of one process has at hand.
type process struct {
	strategy.Parts
	client redis.UniversalClient
	ttl    int64 // lock expiry, in milliseconds
}

// releaseFunc gives a lock back. It fails as lock.Lease.Unlock does.
type releaseFunc = func(context.Context) error

// text sends a command whose reply is a string. Nil is "".
func (p process) text(ctx context.Context, command ...any) (string, error) {
	return reply(ctx, command[0], p.client.Do(ctx, command...).Text)
}

// number sends a command whose reply is a number, or a string that is one. Nil is 0.
func (p process) number(ctx context.Context, command ...any) (int64, error) {
	return reply(ctx, command[0], p.client.Do(ctx, command...).Int64)
}

// eval runs a script whose reply is a number. KEYS are the lock's key, first and second; ARGV are the owner, the expiry, and more.
func (p process) eval(ctx context.Context, script, owner string, more ...any) (int64, error) {
	args := append([]any{owner, p.ttl}, more...)
	return reply(ctx, "EVAL", p.client.Eval(ctx, script, []string{key, first, second}, args...).Int64)
}

func reply[T any](ctx context.Context, command any, result func() (T, error)) (T, error) {
	value, err := result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return value, rediserr.Classify(ctx, fmt.Sprint(command), err)
	}
	return value, nil
}

// obtained returns the error of an attempt: err, or lock.ErrNotObtained unless it got the lock.
func obtained(got bool, err error) error {
	if err == nil && !got {
		return lock.ErrNotObtained
	}
	return err
}

// obtain makes an attempt by a script that returns 1 if it got the lock.
func (p process) obtain(ctx context.Context, script, owner string, more ...any) error {
	got, err := p.eval(ctx, script, owner, more...)
	return obtained(got == 1, err)
}

// take makes an attempt as v4 does: SET NX with an expiry. It gives back what a lost reply may have obtained.
func (p process) take(ctx context.Context, owner string) error {
	return p.set(ctx, owner, "NX", "PX", p.ttl)
}

// takeForGood is take without an expiry.
func (p process) takeForGood(ctx context.Context, owner string) error { return p.set(ctx, owner, "NX") }

// overwrite takes the lock, whosever it is.
func (p process) overwrite(ctx context.Context, owner string) error {
	return p.set(ctx, owner, "PX", p.ttl)
}

func (p process) set(ctx context.Context, owner string, options ...any) error {
	status, err := p.text(ctx, append([]any{"SET", key, owner}, options...)...)
	if err != nil {
		return lock.Undo(ctx, p.Clock, err, p.release(owner))
	}
	return obtained(status == "OK", nil)
}

// release compares and deletes.
func (p process) release(owner string) releaseFunc {
	return p.script(`local holder = redis.call('GET', KEYS[1])
		if not holder then return 0 elseif holder ~= ARGV[1] then return -1 end
		return redis.call('DEL', KEYS[1])`, owner)
}

// script returns an unlock by a script that returns 1, or 0 if nobody had the lock, or -1 if another owner had it.
func (p process) script(script, owner string) releaseFunc {
	return func(ctx context.Context) error {
		switch was, err := p.eval(ctx, script, owner); {
		case err != nil:
			return err
		case was == 0:
			return lock.ErrExpired
		case was < 0:
			return lock.ErrNotOwner
		}
		return nil
	}
}

// command returns an unlock by a command whose reply does not matter.
func (p process) command(command ...any) releaseFunc {
	return func(ctx context.Context) error {
		_, err := reply(ctx, command[0], p.client.Do(ctx, command...).Result)
		return err
	}
}

// remove deletes the lock, whosever it is.
func (p process) remove(string) releaseFunc { return p.command("DEL", key) }

// keep leaves the lock to its expiry.
func (p process) keep(string) releaseFunc { return func(context.Context) error { return nil } }
