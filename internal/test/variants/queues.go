package variants

import (
	"context"
	"errors"
	"time"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// ownerUnknown returns the anomalies that cannot be judged if no key in Redis names the owner.
func ownerUnknown() []explore.Anomaly {
	return []explore.Anomaly{anomaly.ForeignRelease, anomaly.Untold, anomaly.FalseWord}
}

// queueLocks lists locks whose waiters are served in an order.
func queueLocks() []Variant {
	cancel, three, skew := oneOfEach("cancel"), oneOfEach("cancel"), explore.Scenario{Skew: 15 * time.Second}
	three.Actors = 3
	byClock := func(p process) any { return p.Clock.Now().UnixMilli() }
	byName := func(process) any { return 0 }
	return []Variant{
		{Name: "a ticket", Lock: fromAcquire(drawTicket), Unjudged: ownerUnknown()},
		{Name: "a ticket whose holder leaves", Lock: fromAcquire(drawTicket), Scenario: cancel, Anomaly: anomaly.Stuck, Steps: 7},
		{Name: "two counters in one string", Lock: fromAcquire(drawTicketInString), Unjudged: ownerUnknown()},
		{Name: "a place in a list", Lock: fromAcquire(waitInList(true)), Scenario: cancel, Unjudged: ownerUnknown()},
		{Name: "a place in a list, left behind", Lock: fromAcquire(waitInList(false)), Scenario: cancel, Anomaly: anomaly.Stuck, Steps: 7},
		{Name: "handed over to a sale that has left", Lock: fromAcquire(handOver), Scenario: cancel, Anomaly: anomaly.LeftBehind, Steps: 7},
		{Name: "a sorted set by local clocks", Lock: waitInSortedSet("ZREM", byClock), Scenario: skew, Anomaly: anomaly.TwoHolders, Steps: 4},
		{Name: "a sorted set by names", Lock: waitInSortedSet("ZREM", byName), Anomaly: anomaly.TwoHolders, Steps: 4},
		{Name: "a sorted set in the lock's key", Lock: waitInSortedSet("ZREM", nil), Unjudged: ownerUnknown()},
		{Name: "any member leaves first", Lock: waitInSortedSet("ZPOPMIN", nil), Scenario: three, Anomaly: anomaly.ForeignRelease, Steps: 5},
	}
}

// drawTicket takes the next number, and waits until the number before it has been served.
func drawTicket(p process) acquireFunc {
	return func(ctx context.Context, _ string) (*lock.Lease, error) {
		mine, err := p.doInt(ctx, "INCR", first)
		if err == nil {
			err = p.pollUntil(ctx, func() (bool, error) {
				served, err := p.doInt(ctx, "GET", second)
				return served+1 == mine, err
			})
		}
		return p.leaseUnless(ctx, err, p.releaseByCommand("INCR", second))
	}
}

// drawTicketInString is like drawTicket, with both counters in the lock's key, as "next:served".
func drawTicketInString(p process) acquireFunc {
	const counters = `local next, served = string.match(redis.call('GET', KEYS[1]) or '0:0', '(%d+):(%d+)')
		`
	return func(ctx context.Context, _ string) (*lock.Lease, error) {
		mine, err := p.eval(ctx, counters+`redis.call('SET', KEYS[1], (next + 1) .. ':' .. served) return next + 1`, "")
		if err == nil {
			err = p.pollUntil(ctx, func() (bool, error) {
				served, err := p.eval(ctx, counters+`return served + 0`, "")
				return served+1 == mine, err
			})
		}
		return p.leaseUnless(ctx, err, p.releaseByScript(counters+`redis.call('SET', KEYS[1], next .. ':' .. (served + 1)) return 1`, ""))
	}
}

// waitInList waits in a list until the sale is the first. If tidy, a sale that gives up removes itself from the list.
func waitInList(tidy bool) func(process) acquireFunc {
	return func(p process) acquireFunc {
		return func(ctx context.Context, owner string) (*lock.Lease, error) {
			_, err := p.doInt(ctx, "RPUSH", first, owner)
			if err == nil {
				err = p.pollUntil(ctx, func() (bool, error) {
					front, err := p.doString(ctx, "LINDEX", first, 0)
					return front == owner, err
				})
			}
			if err != nil && tidy {
				err = errors.Join(err, lock.WithDetachedTimeout(ctx, p.Clock, p.releaseByCommand("LREM", first, 1, owner)))
			}
			return p.leaseUnless(ctx, err, p.releaseByCommand("LPOP", first))
		}
	}
}

// handOver makes the first waiter the next holder, whether or not it still waits.
func handOver(p process) acquireFunc {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		err := p.obtainByScript(ctx, `if redis.call('SET', KEYS[1], ARGV[1], 'NX') then return 1 end
			redis.call('RPUSH', KEYS[2], ARGV[1]) return 0`, owner)
		if errors.Is(err, lock.ErrNotObtained) {
			err = p.pollUntil(ctx, func() (bool, error) {
				holder, err := p.doString(ctx, "GET", key)
				return holder == owner, err
			})
		}
		return p.leaseUnless(ctx, err, p.releaseByScript(`local next = redis.call('LPOP', KEYS[2])
			if next then redis.call('SET', KEYS[1], next) else redis.call('DEL', KEYS[1]) end
			return 1`, owner))
	}
}

// waitInSortedSet returns a lock whose key is a sorted set, in which the first member is the holder. score returns the score of a new
// member; nil: the scores are consecutive numbers. leave is the command that removes a member.
func waitInSortedSet(leave string, score func(process) any) strategy.Strategy {
	return fromAcquire(func(p process) acquireFunc {
		return func(ctx context.Context, owner string) (_ *lock.Lease, err error) {
			leaves := p.releaseByCommand(leave, key, owner)
			if leave == "ZPOPMIN" {
				leaves = p.releaseByCommand(leave, key)
			}
			if score == nil {
				_, err = p.eval(ctx, `return redis.call('ZADD', KEYS[1], redis.call('INCR', KEYS[2]), ARGV[1])`, owner)
			} else {
				_, err = p.doInt(ctx, "ZADD", key, score(p), owner)
			}
			if err == nil {
				err = p.pollUntil(ctx, func() (bool, error) {
					rank, err := p.doInt(ctx, "ZRANK", key, owner)
					return rank == 0, err
				})
			}
			if err != nil {
				err = errors.Join(err, lock.WithDetachedTimeout(ctx, p.Clock, leaves))
			}
			return p.leaseUnless(ctx, err, leaves)
		}
	})
}

// bakeryLocks lists locks that need only reads and writes.
func bakeryLocks() []Variant {
	crash := oneOfEach("crash")
	return []Variant{
		{Name: "the bakery", Lock: fromAcquire(bakery(1)), Unjudged: ownerUnknown()},
		{Name: "the bakery, a crash", Lock: fromAcquire(bakery(1)), Scenario: crash, Anomaly: anomaly.Stuck, Steps: 9},
		{Name: "the bakery without choosing", Lock: fromAcquire(bakery(0)), Anomaly: anomaly.TwoHolders, Steps: 14},
	}
}

// bakery is Lamport's bakery algorithm (1974) for two processes: each takes a number larger than the other's, and the smaller is served
// first. A process has a register for its number, and a register that has the value flag while the process chooses its number. With flag 0,
// a process does not show that it is choosing.
func bakery(flag int) func(process) acquireFunc {
	number := func(of string) string { return keyBeside("number:" + of) }
	choosing := func(of string) string { return keyBeside("choosing:" + of) }
	return func(p process) acquireFunc {
		other := map[string]string{"A": "B", "B": "A"}[p.Process]
		var mine int64
		choose := func(ctx context.Context) error {
			last, err := p.doInt(ctx, "GET", number(p.Process))
			others, failed := p.doInt(ctx, "GET", number(other))
			mine = max(last, others) + 1
			return errors.Join(err, failed, p.releaseByCommand("SET", number(p.Process), mine)(ctx))
		}
		wait := func(register string, may func(int64) bool) func(context.Context) error {
			return func(ctx context.Context) error {
				return p.pollUntil(ctx, func() (bool, error) {
					n, err := p.doInt(ctx, "GET", register)
					return may(n), err
				})
			}
		}
		steps := []func(context.Context) error{
			p.releaseByCommand("SET", choosing(p.Process), flag), choose, p.releaseByCommand("SET", choosing(p.Process), 0),
			wait(choosing(other), func(n int64) bool { return n == 0 }),
			wait(number(other), func(n int64) bool { return n == 0 || n > mine || n == mine && other > p.Process }),
		}
		return func(ctx context.Context, _ string) (_ *lock.Lease, err error) {
			for i := 0; i < len(steps) && err == nil; i++ {
				err = steps[i](ctx)
			}
			return p.leaseUnless(ctx, err, p.releaseByCommand("SET", number(p.Process), 0))
		}
	}
}
