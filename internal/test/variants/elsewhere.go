package variants

import (
	"context"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/strategy"
)

// elsewhere are locks that are not in the lock's key, and can be lost there.
func elsewhere() []Variant {
	return []Variant{
		{Name: "another key, no renewal", Lock: polls(anotherKey), Scenario: once("expiry"), Shows: explore.Untold, Steps: 4},
		{Name: "another key, no owner", Lock: polls(anotherKeyDeleted), Scenario: once("expiry"), Shows: explore.ForeignRelease, Steps: 6},
		{
			Name: "another key, and nil is said of it", Lock: polls(anotherKeySaysNil),
			Scenario: once("expiry"), Shows: explore.FalseWord, Steps: 5,
		},
		{Name: "slots, no renewal", Lock: ofTwo(polls(slots)), Scenario: once("expiry"), Shows: explore.Untold, Steps: 3},
		{
			Name: "a slot too many", Lock: ofTwo(polls(slotsOf(places + 1))),
			Scenario: explore.Scenario{Actors: 3}, Shows: explore.TwoHolders, Steps: 6,
		},
		{
			Name: "a reader that removes all readers", Lock: atomicallyReadWrite(modeWriter, modeCareless),
			Scenario: explore.Scenario{Actors: 4}, Shows: explore.ForeignRelease, Steps: 4,
		},
		{
			Name: "a member of a set that nobody removes", Lock: polls(memberOfASet),
			Scenario: tryTwice("lost-reply"), Shows: explore.LeftBehind, Steps: 2,
		},
		{
			Name: "another key, and errors of its unlock are ignored", Lock: polls(anotherKeyForGood),
			Scenario: once("lost-request"), Shows: explore.LeftBehind, Steps: 6,
		},
		{Name: "it is lost, says the holder", Lock: takes(tellsItself), Shows: explore.FalseWord, Steps: 1},
		{
			Name: "polls, and promises an order", Lock: inOrder(polls(setNX)),
			Scenario: explore.Scenario{Sales: 3}, Shows: explore.Starved, Steps: 10,
		},
	}
}

// tryTwice is a scenario with these faults in which nobody waits.
func tryTwice(faults ...string) explore.Scenario {
	s := once(faults...)
	s.Try = 2
	return s
}

// rightElsewhere are right ones.
func rightElsewhere() []Variant {
	three := explore.Scenario{Actors: 3}
	return []Variant{
		{Name: "another key", Lock: polls(anotherKey)},
		{Name: "another key, a crash", Lock: polls(anotherKey), Scenario: once("crash")},
		{Name: "a member of a set", Lock: polls(memberOfASet)},
		{Name: "a member of a set, a cancel", Lock: polls(memberOfASet), Scenario: once("cancel")},
		{Name: "slots", Lock: ofTwo(polls(slots)), Scenario: three},
		{Name: "readers in the lock's own hash", Lock: atomicallyReadWrite(modeWriter, modeReader), Scenario: three},
		{Name: "another key, two sales each", Lock: polls(anotherKey), Scenario: explore.Scenario{Sales: 2}},
	}
}

func anotherKey(p process) ask {
	other := under("other")
	return func(ctx context.Context, owner string) (unlock, error) {
		reply, err := p.text(ctx, "SET", other, owner, "NX", "PX", p.ttl)
		if err == nil {
			err = obtained(reply == "OK")
		}
		return p.compareAndDelete(other, owner), err
	}
}

// memberOfASet names nobody, and has no expiry.
func memberOfASet(p process) ask {
	held := under("held")
	return func(ctx context.Context, _ string) (unlock, error) {
		added, err := p.number(ctx, "SADD", held, "stock")
		if err == nil {
			err = obtained(added == 1)
		}
		return p.does("SREM", held, "stock"), err
	}
}

func anotherKeyForGood(p process) ask {
	other := under("other")
	return func(ctx context.Context, owner string) (unlock, error) {
		reply, err := p.text(ctx, "SET", other, owner, "NX")
		if err == nil {
			err = obtained(reply == "OK")
		}
		return func(ctx context.Context) error {
			_, _ = p.number(ctx, "DEL", other)
			return nil
		}, err
	}
}

// compareAndDelete gives a key back that is the owner's.
func (p process) compareAndDelete(key, owner string) unlock {
	return func(ctx context.Context) error {
		reply, err := p.script(ctx, `local holder = redis.call('GET', KEYS[2])
			if not holder then return 0 elseif holder ~= ARGV[1] then return -1 end
			return redis.call('DEL', KEYS[2])`, []string{key}, owner)
		switch {
		case err != nil:
			return err
		case reply == 0:
			return lock.ErrExpired
		case reply < 0:
			return lock.ErrNotOwner
		}
		return nil
	}
}

func anotherKeyDeleted(p process) ask {
	take := anotherKey(p)
	return func(ctx context.Context, owner string) (unlock, error) {
		_, err := take(ctx, owner)
		return p.does("DEL", under("other")), err
	}
}

func anotherKeySaysNil(p process) ask {
	take := anotherKey(p)
	return func(ctx context.Context, owner string) (unlock, error) {
		release, err := take(ctx, owner)
		return func(ctx context.Context) error {
			_ = release(ctx)
			return nil
		}, err
	}
}

func slots(p process) ask { return slotsOf(places)(p) }

// slotsOf is a semaphore of so many keys, tried one after the other.
func slotsOf(n int) func(process) ask {
	return func(p process) ask {
		return func(ctx context.Context, owner string) (unlock, error) {
			for i := range n {
				slot := under("slot" + string(rune('0'+i)))
				reply, err := p.text(ctx, "SET", slot, owner, "NX", "PX", p.ttl)
				if err != nil || reply == "OK" {
					return p.compareAndDelete(slot, owner), err
				}
			}
			return nil, lock.ErrNotObtained
		}
	}
}

// atomicallyReadWrite is a read-write lock for sales that need none.
func atomicallyReadWrite(write, read func(process) ask) strategy.Strategy {
	return atomically(readWrite(write, read))
}

// mode makes an attempt at the lock's own hash: who has it, and whether they write.
func (p process) mode(ctx context.Context, owner, mode string) error {
	got, err := p.script(ctx, `local mode = redis.call('HGET', KEYS[1], 'mode')
		if mode and (mode == 'write' or ARGV[2] == 'write') then return 0 end
		redis.call('HSET', KEYS[1], 'mode', ARGV[2], ARGV[1], 1)
		return 1`, nil, owner, mode)
	if err == nil {
		err = obtained(got == 1)
	}
	return err
}

// modeLeaves removes who has it, and the hash with the last one.
func (p process) modeLeaves(owner string) unlock {
	return p.giveBack(`if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
		if redis.call('HLEN', KEYS[1]) == 1 then redis.call('DEL', KEYS[1]) end
		return 1`, owner)
}

func modeWriter(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		return p.modeLeaves(owner), p.mode(ctx, owner, "write")
	}
}

func modeReader(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		return p.modeLeaves(owner), p.mode(ctx, owner, "read")
	}
}

func modeCareless(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		return p.does("DEL", key), p.mode(ctx, owner, "read")
	}
}

// tellsItself ends its lease's context as if it had lost the lock.
func tellsItself(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		return lock.Poll(ctx, p.Options, func() (*lock.Lease, error) {
			if err := p.take(ctx, owner); err != nil {
				return nil, err
			}
			ctx, lose := context.WithCancelCause(ctx)
			lose(lock.ErrLost)
			return p.lease(ctx, p.release(owner)), nil
		})
	}
}
