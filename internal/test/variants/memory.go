package variants

import (
	"context"
	"errors"
	"slices"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// memoryLocks lists locks that decide by what their process, or the call, remembers.
func memoryLocks() []Variant {
	two, three := inOneProcess(2, explore.Scenario{}), inOneProcess(3, once("cancel"))
	return []Variant{
		{Name: "counts its attempts for nothing", Lock: fromAttempt(countAttempts)},
		{Name: "a queue in the process", Lock: fromAttempt(queueInProcess), Scenario: two},
		{Name: "a flag that goes up after the command", Lock: fromAttempt(flagAfter), Scenario: two, Anomaly: anomaly.TwoHolders, Steps: 4},
		{Name: "an undo of what its process has", Lock: fromAttempt(undoByProcess), Scenario: two, Anomaly: anomaly.ForeignRelease, Steps: 5},
		{Name: "a turn handed to a sale that leaves", Lock: fromAcquire(waitInLine), Scenario: three, Anomaly: anomaly.Stuck, Steps: 9},
	}
}

func countAttempts(p process) attemptFunc {
	asked := 0
	return func(ctx context.Context, owner string) (releaseFunc, error) {
		asked++
		return p.release(owner), p.take(ctx, owner)
	}
}

// queueInProcess lets the sales of a process take turns. Each asks for itself.
func queueInProcess(p process) attemptFunc {
	queue := lock.NewQueue(p.Options, nil)
	return func(ctx context.Context, owner string) (releaseFunc, error) {
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

// flagAfter asks for the lock only while the flag is up. Two sales that both look before it goes up both take the lock.
func flagAfter(p process) attemptFunc {
	up := false
	return func(ctx context.Context, owner string) (releaseFunc, error) {
		obtain := p.overwrite
		if up {
			obtain = p.take
		}
		err := obtain(ctx, owner)
		up = up || err == nil
		return func(ctx context.Context) error {
			up = false
			return p.release(owner)(ctx)
		}, err
	}
}

// undoByProcess gives back what a lost reply may have obtained. That may be what another sale of the process has.
func undoByProcess(p process) attemptFunc {
	owner := lock.Owner(p.Process)
	return func(ctx context.Context, _ string) (releaseFunc, error) {
		err := p.takeWithoutUndo(ctx, owner)
		if err != nil {
			err = errors.Join(err, p.release(owner)(ctx))
		}
		return p.release(owner), err
	}
}

// line is a queue of the sales of a process: each waits for a message of its own. A sale that leaves as it gets the turn keeps it.
type line struct {
	process

	busy    bool
	waiting []chan struct{}
}

func waitInLine(p process) acquireFunc {
	l := line{process: p}
	return l.acquire
}

func (l *line) acquire(ctx context.Context, owner string) (*lock.Lease, error) {
	if l.busy {
		turn := make(chan struct{}, 1)
		l.waiting = append(l.waiting, turn)
		if err := l.Clock.Wait(ctx, turn); err != nil {
			l.waiting = slices.DeleteFunc(l.waiting, func(other chan struct{}) bool { return other == turn })
			return nil, err
		}
	}
	l.busy = true
	lease, err := l.poll(ctx, owner, func(ctx context.Context, owner string) (releaseFunc, error) {
		return l.release(owner), l.take(ctx, owner)
	})
	if err != nil {
		l.leave()
		return nil, err
	}
	return lease.With(func(ctx context.Context) error {
		defer l.leave()
		return lease.Unlock(ctx)
	}), nil
}

func (l *line) leave() {
	if l.busy = len(l.waiting) > 0; l.busy {
		next := l.waiting[0]
		l.waiting = l.waiting[1:]
		next <- struct{}{}
	}
}

// reentrantLocks lists locks that count the calls of their owner, and some that should.
func reentrantLocks() []Variant {
	nested := explore.Scenario{Nested: 1}
	enters := func(p process, ctx context.Context, owner string) error {
		return p.obtain(ctx, enter+`return 1`, owner)
	}
	deletes := fromScripts(enter+`return 1`, `return redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 and redis.call('DEL', KEYS[1]) or -1`)
	setNX := fromSteps(process.take, process.release)
	return []Variant{
		{Name: "reentrant", Lock: fromSteps(enters, process.leave), Scenario: nested},
		{Name: "reentrant, but the inner call deletes", Lock: deletes, Scenario: nested, Anomaly: anomaly.TwoHolders, Steps: 5},
		{Name: "not reentrant", Lock: setNX, Scenario: nested, Anomaly: anomaly.SelfDeadlock, Steps: 4},
	}
}

// enter begins a script that counts one more call of the owner. It ends with 0 if another has the lock.
const enter = `if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
	redis.call('HINCRBY', KEYS[1], ARGV[1], 1) redis.call('PEXPIRE', KEYS[1], ARGV[2])
	`

// leave counts one call less.
func (p process) leave(owner string) releaseFunc {
	return p.script(`if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
		if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return -1 end
		if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) == 0 then redis.call('DEL', KEYS[1]) end
		return 1`, owner)
}

// fencedLocks lists locks with tokens.
func fencedLocks() []Variant {
	nested := explore.Scenario{Nested: 1}
	one := scriptToken(`if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end
		return redis.call('INCR', KEYS[2])`)
	each := scriptToken(enter + `return redis.call('INCR', KEYS[2])`)
	own := func(p process) tokenFunc {
		last := int64(0)
		return func(ctx context.Context, owner string) (int64, error) {
			last++
			return last, p.take(ctx, owner)
		}
	}
	return []Variant{
		{Name: "a token in the same script", Lock: fromToken(one, process.release)},
		{Name: "a token of the process's own", Lock: fromToken(own, process.release), Anomaly: anomaly.TokenOrder, Steps: 5},
		{Name: "a token for each call", Lock: fromToken(each, process.leave), Scenario: nested, Anomaly: anomaly.TokenOrder, Steps: 3},
	}
}

// tokenFunc makes one attempt. It returns the token, or 0 if another has the lock.
type tokenFunc func(ctx context.Context, owner string) (int64, error)

func fromToken(newToken func(process) tokenFunc, release func(process, string) releaseFunc) strategy.Strategy {
	return fromAcquire(func(p process) acquireFunc {
		once := newToken(p)
		return func(ctx context.Context, owner string) (*lock.Lease, error) {
			return lock.Poll(ctx, p.Options, func() (*lock.Lease, error) {
				token, err := once(ctx, owner)
				if err = obtained(token > 0, err); err != nil {
					return nil, err
				}
				return lock.NewLease(ctx, p.Clock, token, release(p, owner)), nil
			})
		}
	})
}

// scriptToken makes attempts by a script that returns the token.
func scriptToken(script string) func(process) tokenFunc {
	return func(p process) tokenFunc {
		return func(ctx context.Context, owner string) (int64, error) { return p.eval(ctx, script, owner) }
	}
}
