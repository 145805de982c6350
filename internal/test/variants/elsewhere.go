package variants

import (
	"context"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
)

// elsewhere are locks that are not in the lock's key, and can be lost there.
func elsewhere() []Variant {
	return []Variant{
		{Name: "another key, no renewal", Lock: polls(anotherKey), Scenario: once("expiry"), Shows: anomaly.Untold, Steps: 4},
		{Name: "another key, no owner", Lock: polls(anotherKeyDeleted), Scenario: once("expiry"), Shows: anomaly.ForeignRelease, Steps: 6},
		{
			Name: "another key, and nil is said of it", Lock: polls(anotherKeySaysNil),
			Scenario: once("expiry"), Shows: anomaly.FalseWord, Steps: 5,
		},
		{
			Name: "a member of a set that nobody removes", Lock: polls(memberOfASet),
			Scenario: tryTwice("lost-reply"), Shows: anomaly.LeftBehind, Steps: 2,
		},
		{
			Name: "another key, and errors of its unlock are ignored", Lock: polls(anotherKeyForGood),
			Scenario: once("lost-request"), Shows: anomaly.LeftBehind, Steps: 6,
		},
		{Name: "it is lost, says the holder", Lock: ofTake(selfCancelling), Shows: anomaly.FalseWord, Steps: 1},
		{
			Name: "polls, and promises an order", Lock: inOrder(polls(setNX)),
			Scenario: explore.Scenario{Sales: 3}, Shows: anomaly.Starved, Steps: 10,
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
	return []Variant{
		{Name: "another key", Lock: polls(anotherKey)},
		{Name: "another key, a crash", Lock: polls(anotherKey), Scenario: once("crash")},
		{Name: "a member of a set", Lock: polls(memberOfASet)},
		{Name: "a member of a set, a cancel", Lock: polls(memberOfASet), Scenario: once("cancel")},
		{Name: "another key, two sales each", Lock: polls(anotherKey), Scenario: explore.Scenario{Sales: 2}},
	}
}

func anotherKey(p process) ask { return underKey(under("other"))(p) }

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

// selfCancelling ends its lease's context as if it had lost the lock.
func selfCancelling(p process) take {
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
