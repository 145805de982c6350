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

// nameless are the anomalies that nobody can judge where nothing in Redis says whose the lock is.
func nameless() []explore.Anomaly {
	return []explore.Anomaly{anomaly.ForeignRelease, anomaly.Untold, anomaly.FalseWord}
}

// queueLocks lists locks with an order.
func queueLocks() []Variant {
	cancel, three, skew := once("cancel"), once("cancel"), explore.Scenario{Skew: 15 * time.Second}
	three.Actors = 3
	byClock := func(p process) any { return p.Clock.Now().UnixMilli() }
	byName := func(process) any { return 0 }
	return []Variant{
		{Name: "a ticket", Lock: fromAcquire(drawTicket), Unjudged: nameless()},
		{Name: "a ticket whose holder leaves", Lock: fromAcquire(drawTicket), Scenario: cancel, Anomaly: anomaly.Stuck, Steps: 7},
		{Name: "two counters in one string", Lock: fromAcquire(drawTicketInString), Unjudged: nameless()},
		{Name: "a place in a list", Lock: fromAcquire(inList(true)), Scenario: cancel, Unjudged: nameless()},
		{Name: "a place in a list, left behind", Lock: fromAcquire(inList(false)), Scenario: cancel, Anomaly: anomaly.Stuck, Steps: 7},
		{Name: "handed over to a sale that has left", Lock: fromAcquire(handOver), Scenario: cancel, Anomaly: anomaly.LeftBehind, Steps: 7},
		{Name: "a sorted set by local clocks", Lock: inSortedSet("ZREM", byClock), Scenario: skew, Anomaly: anomaly.TwoHolders, Steps: 4},
		{Name: "a sorted set by names", Lock: inSortedSet("ZREM", byName), Anomaly: anomaly.TwoHolders, Steps: 4},
		{Name: "a sorted set in the lock's key", Lock: inSortedSet("ZREM", nil), Unjudged: nameless()},
		{Name: "any member leaves first", Lock: inSortedSet("ZPOPMIN", nil), Scenario: three, Anomaly: anomaly.ForeignRelease, Steps: 5},
	}
}

// drawTicket draws a number, and waits until the one before it is served.
func drawTicket(p process) acquireFunc {
	return func(ctx context.Context, _ string) (*lock.Lease, error) {
		mine, err := p.number(ctx, "INCR", first)
		if err == nil {
			err = p.await(ctx, func() (bool, error) {
				served, err := p.number(ctx, "GET", second)
				return served+1 == mine, err
			})
		}
		return p.leaseUnless(ctx, err, p.command("INCR", second))
	}
}

// drawTicketInString has both counters in the lock's key: "next:served".
func drawTicketInString(p process) acquireFunc {
	const counters = `local next, served = string.match(redis.call('GET', KEYS[1]) or '0:0', '(%d+):(%d+)')
		`
	return func(ctx context.Context, _ string) (*lock.Lease, error) {
		mine, err := p.eval(ctx, counters+`redis.call('SET', KEYS[1], (next + 1) .. ':' .. served) return next + 1`, "")
		if err == nil {
			err = p.await(ctx, func() (bool, error) {
				served, err := p.eval(ctx, counters+`return served + 0`, "")
				return served+1 == mine, err
			})
		}
		return p.leaseUnless(ctx, err, p.script(counters+`redis.call('SET', KEYS[1], next .. ':' .. (served + 1)) return 1`, ""))
	}
}

// inList waits in a list until it is the first. A sale that leaves gives its place up, if it is tidy.
func inList(tidy bool) func(process) acquireFunc {
	return func(p process) acquireFunc {
		return func(ctx context.Context, owner string) (*lock.Lease, error) {
			_, err := p.number(ctx, "RPUSH", first, owner)
			if err == nil {
				err = p.await(ctx, func() (bool, error) {
					front, err := p.text(ctx, "LINDEX", first, 0)
					return front == owner, err
				})
			}
			if err != nil && tidy {
				err = errors.Join(err, lock.WithDetachedTimeout(ctx, p.Clock, p.command("LREM", first, 1, owner)))
			}
			return p.leaseUnless(ctx, err, p.command("LPOP", first))
		}
	}
}

// handOver makes the first that waits the next holder. It does not know whether that one still waits.
func handOver(p process) acquireFunc {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		err := p.obtain(ctx, `if redis.call('SET', KEYS[1], ARGV[1], 'NX') then return 1 end
			redis.call('RPUSH', KEYS[2], ARGV[1]) return 0`, owner)
		if errors.Is(err, lock.ErrNotObtained) {
			err = p.await(ctx, func() (bool, error) {
				holder, err := p.text(ctx, "GET", key)
				return holder == owner, err
			})
		}
		return p.leaseUnless(ctx, err, p.script(`local next = redis.call('LPOP', KEYS[2])
			if next then redis.call('SET', KEYS[1], next) else redis.call('DEL', KEYS[1]) end
			return 1`, owner))
	}
}

// inSortedSet makes a lock whose key is a sorted set: the first in it is the holder. A nil score is the number of arrival.
func inSortedSet(leave string, score func(process) any) strategy.Strategy {
	return fromAcquire(func(p process) acquireFunc {
		return func(ctx context.Context, owner string) (_ *lock.Lease, err error) {
			leaves := p.command(leave, key, owner)
			if leave == "ZPOPMIN" {
				leaves = p.command(leave, key)
			}
			if score == nil {
				_, err = p.eval(ctx, `return redis.call('ZADD', KEYS[1], redis.call('INCR', KEYS[2]), ARGV[1])`, owner)
			} else {
				_, err = p.number(ctx, "ZADD", key, score(p), owner)
			}
			if err == nil {
				err = p.await(ctx, func() (bool, error) {
					rank, err := p.number(ctx, "ZRANK", key, owner)
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

// bakeryLocks lists locks of processes that only read and write.
func bakeryLocks() []Variant {
	crash := once("crash")
	return []Variant{
		{Name: "the bakery", Lock: fromAcquire(bakery(1)), Unjudged: nameless()},
		{Name: "the bakery, a crash", Lock: fromAcquire(bakery(1)), Scenario: crash, Anomaly: anomaly.Stuck, Steps: 9},
		{Name: "the bakery without choosing", Lock: fromAcquire(bakery(0)), Anomaly: anomaly.TwoHolders, Steps: 14},
	}
}

// bakery is Lamport's (1974), for two: each process takes a number that is larger than all, and the smallest goes first. A process has a
// register for its number, and one that is 1 while it chooses; if says is 0, it is never 1.
func bakery(says int) func(process) acquireFunc {
	number := func(of string) string { return under("number:" + of) }
	choosing := func(of string) string { return under("choosing:" + of) }
	return func(p process) acquireFunc {
		other := map[string]string{"A": "B", "B": "A"}[p.Process]
		var mine int64
		choose := func(ctx context.Context) error {
			last, err := p.number(ctx, "GET", number(p.Process))
			others, failed := p.number(ctx, "GET", number(other))
			mine = max(last, others) + 1
			return errors.Join(err, failed, p.command("SET", number(p.Process), mine)(ctx))
		}
		wait := func(register string, may func(int64) bool) func(context.Context) error {
			return func(ctx context.Context) error {
				return p.await(ctx, func() (bool, error) {
					n, err := p.number(ctx, "GET", register)
					return may(n), err
				})
			}
		}
		steps := []func(context.Context) error{
			p.command("SET", choosing(p.Process), says), choose, p.command("SET", choosing(p.Process), 0),
			wait(choosing(other), func(n int64) bool { return n == 0 }),
			wait(number(other), func(n int64) bool { return n == 0 || n > mine || n == mine && other > p.Process }),
		}
		return func(ctx context.Context, _ string) (_ *lock.Lease, err error) {
			for i := 0; i < len(steps) && err == nil; i++ {
				err = steps[i](ctx)
			}
			return p.leaseUnless(ctx, err, p.command("SET", number(p.Process), 0))
		}
	}
}
