package variants

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/explore/engine"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// refusedLocks lists locks that the explorer refuses.
func refusedLocks() []Variant {
	const takeOrProlong = `if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
		redis.call('PEXPIRE', KEYS[1], ARGV[2]) return 0`
	return []Variant{
		{Name: "steals after two attempts", Lock: fromAttempt(stealAfterTwo), Refused: explore.ErrUndeclaredPoll},
		{Name: "prolongs it by each attempt", Lock: fromScripts(takeOrProlong, `return redis.call('DEL', KEYS[1])`),
			Refused: explore.ErrUndeclaredPoll},
		{Name: "counts each attempt in Redis", Lock: withCommand("INCR", keyBeside("asked")), Refused: explore.ErrUndeclaredPoll},
		{Name: "waits in Redis", Lock: withCommand("BLPOP", first, 0), Refused: explore.ErrCommand},
		{Name: "a key in another slot", Lock: withCommand("INCR", key+":count"), Refused: explore.ErrKey},
	}
}

// stealAfterTwo overwrites the lock after two failed attempts.
func stealAfterTwo(p process) attemptFunc {
	refused := 0
	return func(ctx context.Context, owner string) (releaseFunc, error) {
		if refused == 2 {
			return p.compareAndDelete(owner), p.overwrite(ctx, owner)
		}
		err := p.setNX(ctx, owner)
		if errors.Is(err, lock.ErrNotObtained) {
			refused++
		}
		return p.compareAndDelete(owner), err
	}
}

// withCommand returns a lock that sends a command before each attempt.
func withCommand(command ...any) strategy.Strategy {
	return withStep(func(p process, ctx context.Context) error { return p.releaseByCommand(command...)(ctx) })
}

// withStep returns a lock that calls step before each attempt.
func withStep(step func(p process, ctx context.Context) error) strategy.Strategy {
	return fromFuncs(func(p process, ctx context.Context, owner string) error {
		if err := step(p, ctx); err != nil {
			return err
		}
		return p.setNX(ctx, owner)
	}, process.compareAndDelete)
}

// Uncontrolled returns locks that act outside the control of the explorer, or panic. Each may leave goroutines behind.
func Uncontrolled() []Variant {
	two := inOneProcess(2, explore.Scenario{})
	return withDefaults([]Variant{
		{Name: "a goroutine of its own", Lock: fromFuncs(process.setNXAndRenew, process.compareAndDelete), Refused: explore.ErrBlind},
		{Name: "a real timer", Lock: withStep(process.sleepInRealTime), Refused: explore.ErrBlind},
		{Name: "a mutex around a command", Lock: fromAttempt(lockMutexAround), Scenario: two, Refused: explore.ErrBlind},
		{Name: "a random pause", Lock: withStep(process.pauseByChance), Refused: explore.ErrUnrepeatable},
		{Name: "a panic", Lock: withStep(func(process, context.Context) error { panic("out of luck") }), Refused: explore.ErrPanicked},
		{Name: "the end of the goroutine", Lock: withStep(process.endGoroutine), Refused: engine.ErrGoexit},
	})
}

// setNXAndRenew renews the lock forever, in a goroutine that the explorer does not know.
func (p process) setNXAndRenew(ctx context.Context, owner string) error {
	err := p.setNX(ctx, owner)
	if err == nil {
		go func() {
			for range time.Tick(p.TTL / 3) {
				p.client.PExpire(ctx, key, p.TTL)
			}
		}()
	}
	return err
}

// sleepInRealTime sleeps by the real clock instead of the clock of the options.
func (process) sleepInRealTime(context.Context) error {
	time.Sleep(time.Second)
	return nil
}

// lockMutexAround holds a mutex during a command.
func lockMutexAround(p process) attemptFunc {
	var mu sync.Mutex
	return func(ctx context.Context, owner string) (releaseFunc, error) {
		mu.Lock()
		defer mu.Unlock()
		return p.compareAndDelete(owner), p.setNX(ctx, owner)
	}
}

// pauseByChance pauses for a random time that the explorer does not choose.
func (p process) pauseByChance(ctx context.Context) error {
	return lock.Sleep(ctx, p.Clock, time.Duration(21+rand.IntN(100))*time.Millisecond)
}

// endGoroutine ends the goroutine of the sale.
func (process) endGoroutine(context.Context) error {
	runtime.Goexit()
	return nil
}
