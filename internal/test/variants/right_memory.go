package variants

import (
	"context"
	"errors"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
)

// rightMemory are right locks that remember something.
func rightMemory() []Variant {
	oneProcess := explore.Scenario{Replicas: 1}
	return []Variant{
		{Name: "counts its attempts, and reports them", Lock: pollsAnew(reports)},
		{Name: "asks in another way after 8 attempts", Lock: countsFailures(8, byScript)},
		{Name: "caches its script", Lock: polls(cachesItsScript)},
		{Name: "asks cheaply after an attempt that failed", Lock: polls(checkedFirst)},
		{Name: "asks three times in one attempt", Lock: polls(threeAttempts)},
		{Name: "a flag that goes up before the command", Lock: polls(flagBefore), Scenario: oneProcess},
		{Name: "a queue in the process", Lock: polls(queued), Scenario: oneProcess},
		{Name: "reentrant by memory", Lock: polls(reentrantByMemory), Scenario: explore.Scenario{Nested: 1}},
		{Name: "pauses that grow", Lock: ofTake(growingPausesAndExpiry), Scenario: once("crash")},
	}
}

// reports knows how often it has asked, and does nothing with that.
func reports(p process) func() ask {
	return func() ask {
		asked := 0
		return func(ctx context.Context, owner string) (unlock, error) {
			asked++
			return p.release(owner), p.take(ctx, owner)
		}
	}
}

func byScript(p process) ask {
	const script = `return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and 1 or 0`
	return func(ctx context.Context, owner string) (unlock, error) {
		got, err := p.script(ctx, script, nil, owner, p.ttl)
		if err == nil {
			err = obtained(got == 1)
		}
		return p.release(owner), err
	}
}

func cachesItsScript(p process) ask {
	const script = `return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and 1 or 0`
	sha := ""
	return func(ctx context.Context, owner string) (_ unlock, err error) {
		if sha == "" {
			if sha, err = p.text(ctx, "SCRIPT", "LOAD", script); err != nil {
				return nil, err
			}
		}
		got, err := p.number(ctx, "EVALSHA", sha, 1, key, owner, p.ttl)
		if err == nil {
			err = obtained(got == 1)
		}
		return p.release(owner), err
	}
}

// checkedFirst looks whether the lock is there, once it has failed, before it asks for it again.
func checkedFirst(p process) ask {
	failed := false
	return func(ctx context.Context, owner string) (unlock, error) {
		if failed {
			if held, err := p.number(ctx, "EXISTS", key); err != nil || held == 1 {
				return nil, errors.Join(err, lock.ErrNotObtained)
			}
		}
		err := p.take(ctx, owner)
		failed = err != nil
		return p.release(owner), err
	}
}

func threeAttempts(p process) ask {
	return func(ctx context.Context, owner string) (_ unlock, err error) {
		for range 3 {
			if err = p.take(ctx, owner); !errors.Is(err, lock.ErrNotObtained) {
				break
			}
		}
		return p.release(owner), err
	}
}

// flagBefore is for one process: the flag goes up before anybody else can look at it. Others poll the flag, without a command.
func flagBefore(p process) ask {
	up := false
	return func(ctx context.Context, owner string) (unlock, error) {
		if up {
			return nil, lock.ErrNotObtained
		}
		up = true
		err := p.take(ctx, owner)
		up = err == nil
		return func(ctx context.Context) error {
			defer func() { up = false }()
			return p.release(owner)(ctx)
		}, err
	}
}

// queued lets the sales of a process take turns, and each ask for itself.
func queued(p process) ask {
	queue := lock.NewQueue(p.Options, nil)
	return func(ctx context.Context, owner string) (unlock, error) {
		if err := queue.Enter(ctx, owner); err != nil {
			return nil, err
		}
		if err := p.take(ctx, owner); err != nil {
			queue.Leave(ctx, err)
			return nil, err
		}
		return func(ctx context.Context) error {
			defer queue.Leave(ctx, nil)
			return p.release(owner)(ctx)
		}, nil
	}
}

func reentrantByMemory(p process) ask {
	depth := map[string]int{}
	return func(ctx context.Context, owner string) (unlock, error) {
		if depth[owner] == 0 {
			if err := p.take(ctx, owner); err != nil {
				return nil, err
			}
		}
		depth[owner]++
		return func(ctx context.Context) error {
			if depth[owner]--; depth[owner] > 0 {
				return nil
			}
			return p.release(owner)(ctx)
		}, nil
	}
}

func growingPausesAndExpiry(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		pause := p.RetryInterval
		return lock.PollAt(ctx, p.Options, func() time.Duration {
			pause = min(2*pause, 5*time.Second)
			return pause
		}, func() (*lock.Lease, error) {
			if err := p.take(ctx, owner); err != nil {
				return nil, err
			}
			return p.lease(ctx, p.release(owner)), nil
		})
	}
}
