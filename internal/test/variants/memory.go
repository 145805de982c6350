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

// memoryLocks lists locks that depend on variables of their process, or of the call.
func memoryLocks() []Variant {
	two, three := inOneProcess(2, explore.Scenario{}), inOneProcess(3, oneOfEach("cancel"))
	return []Variant{
		{Name: "counts its attempts for nothing", Lock: fromAttempt(countAttempts)},
		{Name: "a queue in the process", Lock: fromAttempt(queueInProcess), Scenario: two},
		{Name: "a flag that goes up after the command", Lock: fromAttempt(raiseFlagLate), Scenario: two, Anomaly: anomaly.TwoHolders, Steps: 4},
		{Name: "an undo of what its process has", Lock: fromAttempt(undoByProcess), Scenario: two, Anomaly: anomaly.ForeignRelease, Steps: 5},
		{Name: "a turn handed to a sale that leaves", Lock: fromAcquire(queueWithMessages), Scenario: three, Anomaly: anomaly.Stuck, Steps: 9},
	}
}

// countAttempts counts its attempts in the process, which has no effect.
func countAttempts(p process) attemptFunc {
	asked := 0
	return func(ctx context.Context, owner string) (releaseFunc, error) {
		asked++
		return p.compareAndDelete(owner), p.setNX(ctx, owner)
	}
}

// queueInProcess queues the sales of a process. Each locks by itself in Redis.
func queueInProcess(p process) attemptFunc {
	queue := lock.NewQueue(p.Options, nil)
	return func(ctx context.Context, owner string) (releaseFunc, error) {
		if err := queue.Enter(ctx, owner); err != nil {
			return nil, err
		}
		if err := p.setNX(ctx, owner); err != nil {
			queue.Leave(ctx, err)
			return nil, err
		}
		return func(ctx context.Context) error {
			defer queue.Leave(ctx, nil)
			return p.compareAndDelete(owner)(ctx)
		}, nil
	}
}

// raiseFlagLate overwrites the lock unless the flag of the process is up. If two sales read the flag before it goes up, both get the lock.
func raiseFlagLate(p process) attemptFunc {
	up := false
	return func(ctx context.Context, owner string) (releaseFunc, error) {
		obtain := p.overwrite
		if up {
			obtain = p.setNX
		}
		err := obtain(ctx, owner)
		up = up || err == nil
		return func(ctx context.Context) error {
			up = false
			return p.compareAndDelete(owner)(ctx)
		}, err
	}
}

// undoByProcess releases the lock after a failed attempt, because the reply may only have been lost. All sales of a process have the same
// owner, so it may release the lock of another sale.
func undoByProcess(p process) attemptFunc {
	owner := lock.Owner(p.Process)
	return func(ctx context.Context, _ string) (releaseFunc, error) {
		err := p.setNXWithoutUndo(ctx, owner)
		if err != nil {
			err = errors.Join(err, p.compareAndDelete(owner)(ctx))
		}
		return p.compareAndDelete(owner), err
	}
}

// localLine is a queue of the sales of a process. Each sale waits for a message on its own channel. A sale that leaves just as it gets its
// message blocks the queue.
type localLine struct {
	process

	busy    bool            // a sale has the turn
	waiting []chan struct{} // channels of the waiting sales, first to last; each gets a message when its sale has the turn
}

// queueWithMessages queues the sales of a process in a localLine.
func queueWithMessages(p process) acquireFunc {
	l := localLine{process: p}
	return l.acquire
}

// acquire waits in the queue, and then locks in Redis.
func (l *localLine) acquire(ctx context.Context, owner string) (*lock.Lease, error) {
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
		return l.compareAndDelete(owner), l.setNX(ctx, owner)
	})
	if err != nil {
		l.leave()
		return nil, err
	}
	return lease.WithUnlock(func(ctx context.Context) error {
		defer l.leave()
		return lease.Unlock(ctx)
	}), nil
}

// leave gives the turn to the next sale in the queue.
func (l *localLine) leave() {
	if l.busy = len(l.waiting) > 0; l.busy {
		next := l.waiting[0]
		l.waiting = l.waiting[1:]
		next <- struct{}{}
	}
}

// reentrantLocks lists locks that count nested calls, and some that should.
func reentrantLocks() []Variant {
	nested := explore.Scenario{Nested: 1}
	enters := func(p process, ctx context.Context, owner string) error {
		return p.obtainByScript(ctx, enterScript+`return 1`, owner)
	}
	deletes := fromScripts(enterScript+`return 1`, `return redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 and redis.call('DEL', KEYS[1]) or -1`)
	setNX := fromFuncs(process.setNX, process.compareAndDelete)
	return []Variant{
		{Name: "reentrant", Lock: fromFuncs(enters, process.leaveOnce), Scenario: nested},
		{Name: "reentrant, but the inner call deletes", Lock: deletes, Scenario: nested, Anomaly: anomaly.TwoHolders, Steps: 5},
		{Name: "not reentrant", Lock: setNX, Scenario: nested, Anomaly: anomaly.SelfDeadlock, Steps: 4},
	}
}

// enterScript is the beginning of a script that counts a call of the owner. The script returns 0 if another owner has the lock.
const enterScript = `if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
	redis.call('HINCRBY', KEYS[1], ARGV[1], 1) redis.call('PEXPIRE', KEYS[1], ARGV[2])
	`

// leaveOnce subtracts a call, and deletes the lock at the last one.
func (p process) leaveOnce(owner string) releaseFunc {
	return p.releaseByScript(`if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
		if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return -1 end
		if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) == 0 then redis.call('DEL', KEYS[1]) end
		return 1`, owner)
}

// fencedLocks lists locks with fencing tokens.
func fencedLocks() []Variant {
	nested := explore.Scenario{Nested: 1}
	one := scriptToken(`if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end
		return redis.call('INCR', KEYS[2])`)
	each := scriptToken(enterScript + `return redis.call('INCR', KEYS[2])`)
	own := func(p process) tokenFunc {
		last := int64(0)
		return func(ctx context.Context, owner string) (int64, error) {
			last++
			return last, p.setNX(ctx, owner)
		}
	}
	return []Variant{
		{Name: "a token in the same script", Lock: fromToken(one, process.compareAndDelete)},
		{Name: "a token of the process's own", Lock: fromToken(own, process.compareAndDelete), Anomaly: anomaly.TokenOrder, Steps: 5},
		{Name: "a token for each call", Lock: fromToken(each, process.leaveOnce), Scenario: nested, Anomaly: anomaly.TokenOrder, Steps: 3},
	}
}

// tokenFunc tries to lock once. It returns the token, or 0 if another owner has the lock.
type tokenFunc func(ctx context.Context, owner string) (int64, error)

// fromToken returns the strategy of a lock whose attempts return tokens.
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

// scriptToken returns attempts by a script that returns the token.
func scriptToken(script string) func(process) tokenFunc {
	return func(p process) tokenFunc {
		return func(ctx context.Context, owner string) (int64, error) { return p.eval(ctx, script, owner) }
	}
}
