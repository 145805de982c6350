package variants

import (
	"context"
	"errors"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
)

// owners are locks that do something to the lock of another sale, which is not said by the value of the lock's key alone.
func owners() []Variant {
	oneProcess := explore.Scenario{Replicas: 1}
	return []Variant{
		{
			Name: "who is refused gives back what its process has", Lock: polls(ownedByProcess(key, true)), Scenario: oneProcess,
			Shows: anomaly.ForeignRelease, Steps: 5,
		},
		{
			Name: "who is refused gives back what its process has in another key", Lock: polls(ownedByProcess(under("other"), true)),
			Scenario: oneProcess, Shows: anomaly.ForeignRelease, Steps: 5,
		},
		{
			Name: "another key, no owner, and a log of all who had it", Lock: polls(logged(anotherKeyDeleted)), Scenario: once("expiry"),
			Shows: anomaly.ForeignRelease, Steps: 8,
		},
		{
			Name: "who is refused deletes another key, beside a log", Lock: polls(logged(deletesIfRefused)),
			Shows: anomaly.ForeignRelease, Steps: 4,
		},
		{
			Name: "another key that expires, and a log", Lock: polls(logged(anotherKey)), Scenario: once("expiry"),
			Shows: anomaly.Untold, Steps: 5,
		},
		{
			Name: "an expiry for the lock of a holder that wants none", Lock: polls(expiryForOthers),
			Shows: anomaly.ForeignRelease, Steps: 4,
		},
		{
			Name: "a count of waiters in the value, which takes the expiry away", Lock: pollsAnew(countsWaiters("")),
			Shows: anomaly.ForeignRelease, Steps: 2,
		},
	}
}

// rightOwners are right ones.
func rightOwners() []Variant {
	oneProcess := explore.Scenario{Replicas: 1}
	return []Variant{
		{Name: "a process is the owner", Lock: polls(ownedByProcess(key, false)), Scenario: oneProcess},
		{Name: "a process is the owner, in another key", Lock: polls(ownedByProcess(under("other"), false)), Scenario: oneProcess},
		{Name: "another key, and a log of all who had it", Lock: polls(logged(anotherKey))},
		{Name: "another key, and a log of all who had it, a crash", Lock: polls(logged(anotherKey)), Scenario: once("crash")},
		{Name: "who came last is in another key", Lock: polls(namesTheLast)},
		{Name: "a count of waiters in the value", Lock: pollsAnew(countsWaiters(", 'KEEPTTL'"))},
	}
}

// ownedByProcess has the process as the owner, and not the sale. Who is refused gives back what a lost reply may have obtained: that is
// what another sale has.
func ownedByProcess(at string, undoes bool) func(process) ask {
	return func(p process) ask {
		owner := lock.Owner(p.Process)
		return func(ctx context.Context, _ string) (unlock, error) {
			reply, err := p.text(ctx, "SET", at, owner, "NX", "PX", p.ttl)
			if err == nil {
				err = obtained(reply == "OK")
			}
			release := p.compareAndDelete(at, owner)
			if err != nil && undoes {
				err = errors.Join(err, release(ctx))
			}
			return release, err
		}
	}
}

// logged writes down who had the lock.
func logged(of func(process) ask) func(process) ask {
	return func(p process) ask {
		take := of(p)
		return func(ctx context.Context, owner string) (unlock, error) {
			release, err := take(ctx, owner)
			if err == nil {
				_, err = p.number(ctx, "RPUSH", under("log"), owner)
			}
			return release, err
		}
	}
}

// expiryForOthers has no expiry of its own, and gives one to a lock that has none.
func expiryForOthers(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		err := p.takeForGood(ctx, owner)
		if errors.Is(err, lock.ErrNotObtained) {
			left, wrong := p.number(ctx, "PTTL", key)
			if err = errors.Join(wrong, err); left == -1 {
				_, wrong = p.number(ctx, "PEXPIRE", key, p.ttl)
				err = errors.Join(wrong, err)
			}
		}
		return p.release(owner), err
	}
}

// countsWaiters has in the value how many wait: who is refused for the first time writes that anew.
func countsWaiters(options string) func(process) func() ask {
	return func(p process) func() ask {
		return func() ask {
			counted := 0
			return func(ctx context.Context, _ string) (unlock, error) {
				got, err := p.script(ctx, `local held = redis.call('GET', KEYS[1])
					if not held then redis.call('SET', KEYS[1], '1 held, 0 wait', 'PX', ARGV[1]) return 1 end
					if ARGV[2] == '1' then return 0 end
					local wait = tonumber(string.match(held, '(%d+) wait')) + 1
					redis.call('SET', KEYS[1], '1 held, ' .. wait .. ' wait'`+options+`)
					return 0`, nil, p.ttl, counted)
				if err == nil {
					counted, err = 1, obtained(got == 1)
				}
				return p.does("DEL", key), err
			}
		}
	}
}

func deletesIfRefused(p process) ask {
	take := anotherKey(p)
	return func(ctx context.Context, owner string) (unlock, error) {
		release, err := take(ctx, owner)
		if errors.Is(err, lock.ErrNotObtained) {
			err = errors.Join(err, p.does("DEL", under("other"))(ctx))
		}
		return release, err
	}
}

// namesTheLast has the lock in a hash, and who asked last in a string.
func namesTheLast(p process) ask {
	keys := []string{under("held"), under("last")}
	return func(ctx context.Context, owner string) (unlock, error) {
		got, err := p.script(ctx, `redis.call('SET', KEYS[3], ARGV[1])
			return redis.call('HLEN', KEYS[2]) == 0 and redis.call('HSET', KEYS[2], ARGV[1], 1) or 0`, keys, owner)
		if err == nil {
			err = obtained(got == 1)
		}
		return p.does("HDEL", under("held"), owner), err
	}
}
