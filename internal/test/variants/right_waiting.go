package variants

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
)

// rightWaiting are right locks whose waiters do not poll every 20 ms, or whose holders give back only when they are told.
func rightWaiting() []Variant {
	const many = "three who listen in one process have more schedules than a test has time for"
	three := explore.Scenario{Actors: 3}
	return []Variant{
		{Name: "polls every 21 ms", Lock: pollsEvery(21*time.Millisecond, setNX)},
		{Name: "polls every 21 ms, a crash", Lock: pollsEvery(21*time.Millisecond, setNX), Scenario: once("crash")},
		{Name: "polls every 50 ms, a crash", Lock: pollsEvery(50*time.Millisecond, setNX), Scenario: once("crash")},
		{Name: "polls every second, a crash", Lock: pollsEvery(time.Second, setNX), Scenario: once("crash")},
		{Name: "polls every 50 ms, three", Lock: pollsEvery(50*time.Millisecond, setNX), Scenario: three},
		{Name: "a new token on each poll", Lock: pollsAnew(aNewTokenEach), Scenario: explore.Scenario{Polls: explore.NoPolls}},
		{Name: "listens and polls", Lock: ofTake(listensAndPolls), Scenario: once("lost-wake")},
		{Name: "listens and polls, a crash", Lock: ofTake(listensAndPolls), Scenario: once("crash")},
		{Name: "listens, and no message is lost", Lock: ofTake(listens)},
		{
			Name: "listens, two in one process", Lock: ofTake(listens), Scenario: explore.Scenario{Actors: 3, Replicas: 1},
			Gap: Gap{Today: "unknown", Why: many},
		},
		{
			Name: "polls without a pause", Lock: ofTake(spins),
			Gap: Gap{Today: "unknown", Why: "only a pause ends an attempt, so that a waiter without one is never seen to repeat"},
		},
		{Name: "gives back when it is told", Lock: ofTake(keeping)},
		{Name: "gives back when it is told, a lost message", Lock: ofTake(keeping), Scenario: once("lost-wake")},
	}
}

// aNewTokenEach never asks the same twice.
func aNewTokenEach(p process) func() ask {
	return func() ask {
		n := 0
		return func(ctx context.Context, owner string) (unlock, error) {
			n++
			token := fmt.Sprint(owner, "-", n)
			return p.release(token), p.take(ctx, token)
		}
	}
}

// listensAndPolls asks again after a while if it is not told.
func listensAndPolls(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		rung, stop := p.listen(channel)
		defer stop()
		return p.waits(ctx, owner, func() error { return p.take(ctx, owner) }, func() error { return p.waitAWhile(ctx, rung) })
	}
}

// waitAWhile waits for a message, a second at most.
func (p process) waitAWhile(ctx context.Context, rung <-chan struct{}) error {
	wait, stop := lock.WithTimeout(ctx, p.Clock, time.Second, lock.ErrTimeout)
	defer stop()
	_ = p.Clock.Wait(wait, rung)
	return ctx.Err()
}

// keeper is the lock of a process that keeps it after an unlock, until it is told that another process waits.
type keeper struct {
	process
	busy, kept, wanted bool
}

const wanted = key + ":wanted"

func keeping(p process) take {
	k := &keeper{process: p}
	return func(ctx context.Context, _ string) (*lock.Lease, error) {
		p.Notifier.Subscribe(wanted, func(string) { k.yield() })
		rung, stop := p.listen(channel)
		defer stop()
		k.busy = true
		err := k.take(ctx, p.Process)
		for errors.Is(err, lock.ErrNotObtained) {
			if err = k.wait(ctx, rung); err == nil {
				err = k.take(ctx, p.Process)
			}
		}
		if err != nil {
			k.busy = false
			return nil, err
		}
		k.kept = true
		return p.lease(ctx, k.unlock), nil
	}
}

// wait tells the keeper, and waits.
func (k *keeper) wait(ctx context.Context, rung <-chan struct{}) error {
	if _, err := k.number(ctx, "PUBLISH", wanted, k.Process); err != nil {
		return err
	}
	return k.waitAWhile(ctx, rung)
}

func (k *keeper) yield() {
	if k.wanted = true; k.kept && !k.busy {
		_ = k.returns(context.Background())
	}
}

func (k *keeper) unlock(ctx context.Context) error {
	if k.busy = false; k.wanted {
		return k.returns(ctx)
	}
	return nil
}

func (k *keeper) returns(ctx context.Context) error {
	k.kept = false
	return k.release(k.Process)(ctx)
}

func spins(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		for {
			if err := p.take(ctx, owner); !errors.Is(err, lock.ErrNotObtained) {
				return p.lease(ctx, p.release(owner)), err
			}
		}
	}
}
