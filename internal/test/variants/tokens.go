package variants

import (
	"context"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/strategy"
)

// tokens are locks whose fencing tokens fence nothing.
func tokens() []Variant {
	return []Variant{
		{Name: "a token of the process's own", Lock: fenced(tokenOfTheProcess), Shows: anomaly.TokenOrder, Steps: 5},
		{Name: "the token is deleted with the lock", Lock: fenced(tokenInTheLock), Shows: anomaly.TokenOrder, Steps: 5},
		{
			Name: "the token is a time", Lock: fenced(tokenOfTheClock),
			Scenario: explore.Scenario{Skew: 15 * time.Second}, Shows: anomaly.TokenOrder, Steps: 5,
		},
		{Name: "the token is Redis's time", Lock: fenced(tokenOfRedis("return now")), Shows: anomaly.TokenOrder, Steps: 5},
		{
			Name: "the token comes after the lock", Lock: fenced(tokenAfterwards), Scenario: once("expiry"), Shows: anomaly.TokenOrder, Steps: 5,
		},
		{
			Name: "a nested call gets another token", Lock: fenced(tokenForEachCall),
			Scenario: explore.Scenario{Nested: 1}, Shows: anomaly.TokenOrder, Steps: 3,
		},
	}
}

// rightTokens grow with each holder.
func rightTokens() []Variant {
	return []Variant{{Name: "the token is Redis's time, or the next number", Lock: fenced(tokenOfRedis(`
		local token = math.max(now, 1 + (redis.call('GET', KEYS[2]) or 0))
		redis.call('SET', KEYS[2], string.format('%d', token))
		return token`))}}
}

// asksFenced makes one attempt. It gives a fencing token, and what unlocks.
type asksFenced func(ctx context.Context, owner string) (int64, unlock, error)

// fenced makes a strategy of a lock with tokens.
func fenced(of func(process) asksFenced) strategy.Strategy {
	return ofTake(func(p process) take {
		attempt := of(p)
		return func(ctx context.Context, owner string) (*lock.Lease, error) {
			return lock.Poll(ctx, p.Options, func() (*lock.Lease, error) {
				token, unlock, err := attempt(ctx, owner)
				if err != nil {
					return nil, err
				}
				return lock.NewLease(ctx, p.Clock, token, unlock), nil
			})
		}
	})
}

func tokenOfTheProcess(p process) asksFenced {
	last := int64(0)
	return func(ctx context.Context, owner string) (int64, unlock, error) {
		last++
		return last, p.release(owner), p.take(ctx, owner)
	}
}

func tokenInTheLock(p process) asksFenced {
	return func(ctx context.Context, _ string) (int64, unlock, error) {
		token, err := p.script(ctx, `return redis.call('EXISTS', KEYS[1]) == 1 and 0 or redis.call('INCR', KEYS[1])`, nil)
		if err == nil {
			err = obtained(token > 0)
		}
		return token, p.does("DEL", key), err
	}
}

func tokenOfTheClock(p process) asksFenced {
	return func(ctx context.Context, owner string) (int64, unlock, error) {
		err := p.take(ctx, owner)
		return p.Clock.Now().UnixMilli(), p.release(owner), err
	}
}

// tokenOfRedis takes its token, of the time by Redis's clock, in the script that takes the lock.
func tokenOfRedis(token string) func(process) asksFenced {
	return func(p process) asksFenced {
		return func(ctx context.Context, owner string) (int64, unlock, error) {
			token, err := p.script(ctx, `if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end
				local t = redis.call('TIME')
				local now = t[1] * 1000 + math.floor(t[2] / 1000)
				`+token, []string{under("token")}, owner, p.ttl)
			if err == nil {
				err = obtained(token > 0)
			}
			return token, p.release(owner), err
		}
	}
}

// tokenAfterwards may get its token when the lock is another's already.
func tokenAfterwards(p process) asksFenced {
	return func(ctx context.Context, owner string) (int64, unlock, error) {
		if err := p.take(ctx, owner); err != nil {
			return 0, nil, err
		}
		token, err := p.number(ctx, "INCR", under("token"))
		return token, p.release(owner), err
	}
}

// tokenForEachCall is reentrant, and its inner call makes the outer one's token old.
func tokenForEachCall(p process) asksFenced {
	return func(ctx context.Context, owner string) (int64, unlock, error) {
		token, err := p.script(ctx, enter+`return redis.call('INCR', KEYS[2])`, []string{under("token")}, owner, p.ttl)
		if err == nil {
			err = obtained(token > 0)
		}
		return token, p.leave(owner), err
	}
}
