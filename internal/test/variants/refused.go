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

// refusedLocks lists locks that the explorer does not judge.
func refusedLocks() []Variant {
	const takeOrProlong = `if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
		redis.call('PEXPIRE', KEYS[1], ARGV[2]) return 0`
	return []Variant{
		{Name: "steals after two attempts", Lock: fromAttempt(steal), Refused: explore.ErrUndeclaredPoll},
		{Name: "prolongs it by each attempt", Lock: fromScripts(takeOrProlong, `return redis.call('DEL', KEYS[1])`),
			Refused: explore.ErrUndeclaredPoll},
		{Name: "counts each attempt in Redis", Lock: withCommand("INCR", under("asked")), Refused: explore.ErrUndeclaredPoll},
		{Name: "waits in Redis", Lock: withCommand("BLPOP", first, 0), Refused: explore.ErrCommand},
		{Name: "a key in another slot", Lock: withCommand("INCR", key+":count"), Refused: explore.ErrKey},
	}
}

func steal(p process) attemptFunc {
	refused := 0
	return func(ctx context.Context, owner string) (releaseFunc, error) {
		if refused == 2 {
			return p.release(owner), p.overwrite(ctx, owner)
		}
		err := p.take(ctx, owner)
		if errors.Is(err, lock.ErrNotObtained) {
			refused++
		}
		return p.release(owner), err
	}
}

// withCommand makes a lock that sends a command before each attempt.
func withCommand(command ...any) strategy.Strategy {
	return withStep(func(p process, ctx context.Context) error { return p.command(command...)(ctx) })
}

// withStep makes a lock that does something before each attempt.
func withStep(something func(p process, ctx context.Context) error) strategy.Strategy {
	return fromSteps(func(p process, ctx context.Context, owner string) error {
		if err := something(p, ctx); err != nil {
			return err
		}
		return p.take(ctx, owner)
	}, process.release)
}

// Unruly returns locks that act behind the explorer's back, or panic. Each may leave goroutines.
func Unruly() []Variant {
	two := inOneProcess(2, explore.Scenario{})
	return complete([]Variant{
		{Name: "a goroutine of its own", Lock: fromSteps(process.takeAndRenew, process.release), Refused: explore.ErrBlind},
		{Name: "a real timer", Lock: withStep(process.sleepInRealTime), Refused: explore.ErrBlind},
		{Name: "a mutex around a command", Lock: fromAttempt(mutexAround), Scenario: two, Refused: explore.ErrBlind},
		{Name: "a random pause", Lock: withStep(process.pauseByChance), Refused: explore.ErrUnrepeatable},
		{Name: "a panic", Lock: withStep(func(process, context.Context) error { panic("out of luck") }), Refused: explore.ErrPanicked},
		{Name: "the end of the goroutine", Lock: withStep(process.endGoroutine), Refused: engine.ErrGoexit},
	})
}

// takeAndRenew renews in a goroutine for ever.
func (p process) takeAndRenew(ctx context.Context, owner string) error {
	err := p.take(ctx, owner)
	if err == nil {
		go func() {
			for range time.Tick(p.TTL / 3) {
				p.client.PExpire(ctx, key, p.TTL)
			}
		}()
	}
	return err
}

func (process) sleepInRealTime(context.Context) error {
	time.Sleep(time.Second)
	return nil
}

func mutexAround(p process) attemptFunc {
	var mu sync.Mutex
	return func(ctx context.Context, owner string) (releaseFunc, error) {
		mu.Lock()
		defer mu.Unlock()
		return p.release(owner), p.take(ctx, owner)
	}
}

func (p process) pauseByChance(ctx context.Context) error {
	return lock.Sleep(ctx, p.Clock, time.Duration(21+rand.IntN(100))*time.Millisecond)
}

func (process) endGoroutine(context.Context) error {
	runtime.Goexit()
	return nil
}
