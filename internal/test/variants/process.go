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
	key     = lock.Key               // KEYS[1] of each script: the lock
	channel = key + ":free"          // channel of messages that the lock is free
	first   = "{" + key + "}:first"  // KEYS[2] of each script
	second  = "{" + key + "}:second" // KEYS[3] of each script
)

// keyBeside returns the name of another key in the slot of the lock.
func keyBeside(name string) string { return "{" + key + "}:" + name }

// process has the parts from which the lock of one process is made.
type process struct {
	strategy.Parts

	client redis.UniversalClient // same as Parts.Client
	ttl    int64                 // lock expiry, in milliseconds
}

// releaseFunc releases a lock, with the errors of lock.Lease.Unlock.
type releaseFunc = func(context.Context) error

// doString sends a command whose reply is a string; a nil reply is "".
func (p process) doString(ctx context.Context, command ...any) (string, error) {
	return reply(ctx, command[0], p.client.Do(ctx, command...).Text)
}

// doInt sends a command whose reply is a number, possibly as a string; a nil reply is 0.
func (p process) doInt(ctx context.Context, command ...any) (int64, error) {
	return reply(ctx, command[0], p.client.Do(ctx, command...).Int64)
}

// eval runs a script whose reply is a number. KEYS are the lock's key, first and second; ARGV are the owner, the expiry and more.
func (p process) eval(ctx context.Context, script, owner string, more ...any) (int64, error) {
	args := append([]any{owner, p.ttl}, more...)
	return reply(ctx, "EVAL", p.client.Eval(ctx, script, []string{key, first, second}, args...).Int64)
}

// reply returns a result with its error classified; a nil reply is the zero value.
func reply[T any](ctx context.Context, command any, result func() (T, error)) (T, error) {
	value, err := result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return value, rediserr.Classify(ctx, fmt.Sprint(command), err)
	}
	return value, nil
}

// obtained returns the error of an attempt: err, or lock.ErrNotObtained if got is false.
func obtained(got bool, err error) error {
	if err == nil && !got {
		return lock.ErrNotObtained
	}
	return err
}

// obtainByScript tries to lock by a script that returns 1 if it succeeds.
func (p process) obtainByScript(ctx context.Context, script, owner string, more ...any) error {
	got, err := p.eval(ctx, script, owner, more...)
	return obtained(got == 1, err)
}

// setNX tries to lock as v4 does, with SET NX and an expiry. If the reply is lost, it releases the lock that it may have obtained.
func (p process) setNX(ctx context.Context, owner string) error {
	return p.set(ctx, owner, "NX", "PX", p.ttl)
}

// setNXWithoutExpiry is like setNX, without an expiry.
func (p process) setNXWithoutExpiry(ctx context.Context, owner string) error {
	return p.set(ctx, owner, "NX")
}

// overwrite locks, whoever holds the lock.
func (p process) overwrite(ctx context.Context, owner string) error {
	return p.set(ctx, owner, "PX", p.ttl)
}

// set sends SET with options. If the reply is lost, it deletes the owner's lock.
func (p process) set(ctx context.Context, owner string, options ...any) error {
	status, err := p.doString(ctx, append([]any{"SET", key, owner}, options...)...)
	if err != nil {
		return lock.Undo(ctx, p.Clock, err, p.compareAndDelete(owner))
	}
	return obtained(status == "OK", nil)
}

// compareAndDelete deletes the lock if its value is the owner.
func (p process) compareAndDelete(owner string) releaseFunc {
	return p.releaseByScript(`local holder = redis.call('GET', KEYS[1])
		if not holder then return 0 elseif holder ~= ARGV[1] then return -1 end
		return redis.call('DEL', KEYS[1])`, owner)
}

// releaseByScript releases by a script that returns 1, or 0 if nobody had the lock, or -1 if another owner had it.
func (p process) releaseByScript(script, owner string) releaseFunc {
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

// releaseByCommand releases by a command, and ignores its reply.
func (p process) releaseByCommand(command ...any) releaseFunc {
	return func(ctx context.Context) error {
		_, err := reply(ctx, command[0], p.client.Do(ctx, command...).Result)
		return err
	}
}

// delete deletes the lock, whoever holds it.
func (p process) delete(string) releaseFunc { return p.releaseByCommand("DEL", key) }

// neverRelease leaves the lock until it expires.
func (p process) neverRelease(string) releaseFunc { return func(context.Context) error { return nil } }
