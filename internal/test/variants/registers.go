package variants

import (
	"context"
	"errors"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
)

// registers are locks whose key, or keys, stay when nobody has the lock: counters, a queue, or the registers of an algorithm.
func registers() []Variant {
	three := explore.Scenario{Actors: 3}
	cancel := once("cancel")
	cancel.Actors = 3
	return []Variant{
		{Name: "two tickets with one number, in a hash", Lock: ofTake(twinTicketsInAHash), Shows: anomaly.TwoHolders, Steps: 6},
		{
			Name: "a queue in the key, whose first goes when anybody leaves", Lock: ofTake(queueInTheKey("ZPOPMIN")), Scenario: cancel,
			Shows: anomaly.ForeignRelease, Steps: 5,
		},
		{
			Name: "a queue in the key, and one goes in as the second", Lock: ofTake(queueFrom(1, "ZREM")), Scenario: three,
			Shows: anomaly.TwoHolders, Steps: 4,
		},
		{Name: "the bakery, a crash", Lock: ofTake(bakery(false)), Scenario: once("crash"), Shows: anomaly.LeftBehind, Steps: 9},
		{Name: "the bakery, one is stuck", Lock: ofTake(bakery(false)), Scenario: once("crash"), Shows: anomaly.Stuck, Steps: 9},
		{Name: "the bakery, without choosing", Lock: ofTake(bakery(true)), Shows: anomaly.TwoHolders, Steps: 10},
		{
			Name: "the bakery, without choosing, a pause before each look", Lock: ofTake(sleepyBakery(true)),
			Scenario: explore.Scenario{Polls: explore.NoPolls}, Shows: anomaly.TwoHolders, Steps: 10,
		},
	}
}

// rightRegisters are right ones.
func rightRegisters() []Variant {
	three := explore.Scenario{Actors: 3}
	return []Variant{
		{Name: "a ticket in a hash", Lock: ofTake(ticketsInAHash)},
		{Name: "a ticket in a hash, three", Lock: ofTake(ticketsInAHash), Scenario: three},
		{Name: "counts those who came", Lock: polls(countsItself)},
		{Name: "an owner taken from a lease", Lock: ofTake(ownerFromALease)},
		{Name: "a queue in the key", Lock: ofTake(queueInTheKey("ZREM"))},
		{Name: "a queue in the key, three", Lock: ofTake(queueInTheKey("ZREM")), Scenario: three},
		{Name: "the bakery", Lock: ofTake(bakery(false))},
		{
			Name: "the bakery, a pause before each look", Lock: ofTake(sleepyBakery(false)),
			Scenario: explore.Scenario{Polls: explore.NoPolls},
		},
	}
}

// ticketsInAHash has both counters in the lock's own key.
func ticketsInAHash(p process) take {
	return servedInAHash(p, func(ctx context.Context) (int64, error) { return p.number(ctx, "HINCRBY", key, "next", 1) })
}

// twinTicketsInAHash reads the number, and then writes the next one.
func twinTicketsInAHash(p process) take {
	return servedInAHash(p, func(ctx context.Context) (int64, error) {
		last, err := p.number(ctx, "HGET", key, "next")
		if err == nil {
			_, err = p.number(ctx, "HSET", key, "next", last+1)
		}
		return last + 1, err
	})
}

func servedInAHash(p process, dispense func(context.Context) (int64, error)) take {
	return func(ctx context.Context, _ string) (*lock.Lease, error) {
		mine, err := dispense(ctx)
		if err == nil {
			err = p.until(ctx, func() (bool, error) {
				served, err := p.number(ctx, "HGET", key, "served")
				return served+1 == mine, err
			})
		}
		if err != nil {
			return nil, err
		}
		return p.lease(ctx, p.does("HINCRBY", key, "served", 1)), nil
	}
}

// countsItself has the lock if it was the first to come, and otherwise goes.
func countsItself(p process) ask {
	return func(ctx context.Context, _ string) (unlock, error) {
		leave := p.does("DECR", key)
		came, err := p.number(ctx, "INCR", key)
		if err == nil && came > 1 {
			return nil, errors.Join(leave(ctx), lock.ErrNotObtained)
		}
		return leave, err
	}
}

// ownerFromALease takes a number for itself, and writes it as the owner. Both are in the lock's own key.
func ownerFromALease(p process) take {
	return func(ctx context.Context, _ string) (*lock.Lease, error) {
		lease, err := p.number(ctx, "HINCRBY", key, "leases", 1)
		if err == nil {
			err = p.until(ctx, func() (bool, error) {
				got, err := p.number(ctx, "HSETNX", key, "owner", lease)
				return got == 1, err
			})
		}
		if err != nil {
			return nil, err
		}
		return p.lease(ctx, p.giveBack(`if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return -1 end
			return redis.call('HDEL', KEYS[1], 'owner')`, lease)), nil
	}
}

// queueInTheKey is a queue whose sorted set is the lock's key: the first in it is the holder.
func queueInTheKey(leave string) func(process) take { return queueFrom(0, leave) }

// queueFrom lets in all up to a rank.
func queueFrom(rank int64, leave string) func(process) take {
	return func(p process) take {
		return func(ctx context.Context, owner string) (*lock.Lease, error) {
			leaves := p.does(leave, key, owner)
			if leave == "ZPOPMIN" {
				leaves = p.does(leave, key)
			}
			_, err := p.script(ctx, `return redis.call('ZADD', KEYS[1], redis.call('INCR', KEYS[2]), ARGV[1])`, []string{under("came")}, owner)
			if err == nil {
				err = p.until(ctx, func() (bool, error) {
					before, err := p.number(ctx, "ZRANK", key, owner)
					return before <= rank, err
				})
			}
			if err != nil {
				_ = lock.WithDetachedTimeout(ctx, p.Clock, leaves)
				return nil, err
			}
			return p.lease(ctx, leaves), nil
		}
	}
}

// baker is a process in Lamport's bakery (1974): processes that only read and write take numbers, and the smallest goes first. Each has a
// register for its number, and one that says that it is choosing; they stay for ever.
type baker struct {
	process
	hasty  bool // it does not say that it is choosing
	sleepy bool // it pauses before it looks at a register, too
}

func bakery(hasty bool) func(process) take {
	return func(p process) take { return baker{p, hasty, false}.take }
}

func sleepyBakery(hasty bool) func(process) take {
	return func(p process) take { return baker{p, hasty, true}.take }
}

func bakers() []string { return []string{"A", "B"} }

func number(of string) string   { return under("number:" + of) }
func choosing(of string) string { return under("choosing:" + of) }

func (b baker) take(ctx context.Context, _ string) (*lock.Lease, error) {
	mine, err := b.choose(ctx)
	for _, other := range bakers() {
		if err == nil && other != b.Process {
			err = b.wait(ctx, mine, other)
		}
	}
	if err != nil {
		return nil, err
	}
	return b.lease(ctx, b.does("SET", number(b.Process), 0)), nil
}

// choose takes a number that is larger than all.
func (b baker) choose(ctx context.Context) (mine int64, err error) {
	if !b.hasty {
		err = b.set(ctx, choosing(b.Process), 1)
	}
	for _, one := range bakers() {
		if err != nil {
			return 0, err
		}
		var n int64
		n, err = b.number(ctx, "GET", number(one))
		mine = max(mine, n+1)
	}
	if err == nil {
		err = b.set(ctx, number(b.Process), mine)
	}
	if err == nil && !b.hasty {
		err = b.set(ctx, choosing(b.Process), 0)
	}
	return mine, err
}

// wait lets another one go first who has a smaller number.
func (b baker) wait(ctx context.Context, mine int64, other string) (err error) {
	may := map[string]func(int64) bool{
		choosing(other): func(n int64) bool { return n == 0 },
		number(other):   func(n int64) bool { return n == 0 || n > mine || n == mine && other > b.Process },
	}
	for _, register := range []string{choosing(other), number(other)} { // which pause it is in does not say what it asks next
		if err == nil {
			err = b.until(ctx, register, may[register])
		}
	}
	return err
}

func (b baker) set(ctx context.Context, register string, value int64) error {
	_, err := b.text(ctx, "SET", register, value)
	return err
}

// until reads a register until it is as it should be.
func (b baker) until(ctx context.Context, register string, is func(int64) bool) error {
	so := func() (bool, error) {
		n, err := b.number(ctx, "GET", register)
		return is(n), err
	}
	if b.sleepy {
		return b.process.until(ctx, so)
	}
	return b.polls(ctx, so)
}
