package variants

import (
	"context"
	"errors"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
)

// leftovers are locks that leave a key of their own behind, and not the lock's, which keeps out whoever comes.
func leftovers() []Variant {
	return []Variant{
		{
			Name: "a flag that stays when a holder dies, and makes each later sale fail", Lock: polls(flags(false, 0)), Scenario: once("crash"),
			Shows: anomaly.LeftBehind, Steps: 10,
		},
		{
			Name: "one may wait, and is counted still when it has gone", Lock: ofTake(mayWait(false)), Scenario: once("cancel"),
			Shows: anomaly.LeftBehind, Steps: 7,
		},
	}
}

// rightLeftovers are right ones.
func rightLeftovers() []Variant {
	return []Variant{
		{Name: "a flag that the next holder takes down", Lock: polls(flags(true, 0)), Scenario: once("crash")},
		{Name: "a flag that expires before the lock", Lock: polls(flags(false, 5*time.Second)), Scenario: once("crash")},
		{Name: "one may wait, and is counted until it goes", Lock: ofTake(mayWait(true)), Scenario: once("cancel")},
		{Name: "counts its sales for ever", Lock: polls(countsSales), Scenario: once("crash")},
	}
}

var errUnclean = errors.New("a holder died while it unlocked")

// flags raises a flag while it unlocks. If it stands already, a holder died: the next one fails, or takes it down.
func flags(repairs bool, expiry time.Duration) func(process) ask {
	flag := under("unlocks")
	return func(p process) ask {
		raise := []any{"SET", flag, 1}
		if expiry > 0 {
			raise = append(raise, "PX", expiry.Milliseconds())
		}
		return func(ctx context.Context, owner string) (unlock, error) {
			if err := p.take(ctx, owner); err != nil {
				return nil, err
			}
			release, lower := p.release(owner), p.does("DEL", flag)
			up, err := p.text(ctx, "GET", flag)
			switch {
			case err == nil && up != "" && repairs:
				err = lower(ctx)
			case err == nil && up != "":
				err = errUnclean
			}
			if err != nil {
				return nil, errors.Join(err, release(ctx))
			}
			return func(ctx context.Context) error { return errors.Join(p.does(raise...)(ctx), lower(ctx), release(ctx)) }, nil
		}
	}
}

// mayWait lets one wait, and refuses those who come then. It may forget that one has gone.
func mayWait(leaves bool) func(process) take {
	waits := under("waits")
	return func(p process) take {
		return func(ctx context.Context, owner string) (*lock.Lease, error) {
			got, err := p.script(ctx, `if redis.call('GET', KEYS[2]) == '1' then return -1 end
				if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
				return redis.call('INCR', KEYS[2]) - 1`, []string{waits}, owner, p.ttl)
			switch {
			case err != nil:
				return nil, err
			case got < 0:
				return nil, lock.ErrTimeout
			case got == 1:
				return p.lease(ctx, p.release(owner)), nil
			}
			err = p.until(ctx, func() (bool, error) {
				got, err := p.script(ctx, `if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end
					return redis.call('DEL', KEYS[2])`, []string{waits}, owner, p.ttl)
				return got == 1, err
			})
			if err != nil && leaves {
				err = errors.Join(err, lock.WithDetachedTimeout(ctx, p.Clock, p.does("DEL", waits)))
			}
			if err != nil {
				return nil, err
			}
			return p.lease(ctx, p.release(owner)), nil
		}
	}
}

// countsSales counts how often the lock was obtained. Nobody is kept out by that.
func countsSales(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		err := p.take(ctx, owner)
		if err == nil {
			_, err = p.number(ctx, "INCR", under("sales"))
		}
		return p.release(owner), err
	}
}
