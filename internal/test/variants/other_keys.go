package variants

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/internal/strategy"
)

// otherKeyLocks lists locks that are not simply an owner value in the key of the lock.
func otherKeyLocks() []Variant {
	expiry, lost, nodeCrash := oneOfEach("expiry"), oneOfEach("lost-reply"), oneOfEach("node-crash")
	lost.Try, nodeCrash.Try, nodeCrash.Nodes = 2, 2, 3
	const (
		take             = `if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end `
		compareAndDelete = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end return redis.call('DEL', KEYS[1])`
		other            = `if not redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then return 0 end `
		release          = `if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end return redis.call('DEL', KEYS[2])`
		addAlone         = `redis.call('SADD', KEYS[1], ARGV[1]) if redis.call('SCARD', KEYS[1]) == 1 then return 1 end
			redis.call('SREM', KEYS[1], ARGV[1]) return 0`
		pop = `if redis.call('SETNX', KEYS[3], 1) == 1 then redis.call('RPUSH', KEYS[2], 'token') end
			return redis.call('LPOP', KEYS[2]) and 1 or 0`
	)
	noOwner := fromScripts(other+`return 1`, `return redis.call('DEL', KEYS[2])`)
	logged := fromScripts(take+`redis.call('RPUSH', KEYS[3], ARGV[1]) return 1`, compareAndDelete)
	member := fromScripts(`return redis.call('SADD', KEYS[2], 'stock')`, `return redis.call('SREM', KEYS[2], 'stock')`)
	return []Variant{
		{Name: "another key", Lock: fromScripts(other+`return 1`, release), Unjudged: ownerUnknown()},
		{Name: "another key, no owner", Lock: noOwner, Scenario: expiry, Anomaly: anomaly.ForeignRelease, Unjudged: ownerUnknown()[:1]},
		{Name: "a log that names all", Lock: logged, Scenario: expiry, Anomaly: anomaly.FalseWord},
		{Name: "a name in a set", Lock: member, Unjudged: ownerUnknown()},
		{Name: "a name in a set that stays", Lock: member, Scenario: lost, Anomaly: anomaly.LeftBehind, Steps: 2},
		{Name: "alone in a set", Lock: fromScripts(addAlone, `return redis.call('SREM', KEYS[1], ARGV[1])`)},
		{Name: "a token in a list", Lock: fromScripts(pop, `return redis.call('RPUSH', KEYS[2], 'token')`), Unjudged: ownerUnknown()},
		{Name: "two of three masters", Lock: majorityOfThree(), Scenario: nodeCrash},
	}
}

// majorityOfThree locks on two of three masters, which it asks one after the other.
func majorityOfThree() strategy.Strategy {
	s := fromFuncs(func(p process, ctx context.Context, owner string) error {
		obtainedCount := 0
		for _, node := range p.Nodes {
			if node.SetArgs(ctx, key, owner, redis.SetArgs{Mode: "NX", TTL: p.TTL}).Err() == nil {
				obtainedCount++
			}
		}
		if obtainedCount < 2 {
			_ = p.releaseOnMajority(owner)(context.WithoutCancel(ctx))
		}
		return obtained(obtainedCount >= 2, nil)
	}, process.releaseOnMajority)
	s.OnNodes = true
	return s
}

// releaseOnMajority releases the lock on every master that it is on.
func (p process) releaseOnMajority(owner string) releaseFunc {
	const script = `return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0`
	return func(ctx context.Context) error {
		held, silent := 0, 0
		for _, node := range p.Nodes {
			n, err := node.Eval(ctx, script, []string{key}, owner).Int()
			if held += n; err != nil {
				silent++
			}
		}
		switch {
		case held >= 2:
			return nil
		case held+silent >= 2:
			return lock.ErrUnavailable
		default:
			return lock.ErrExpired
		}
	}
}

// deadlineLocks lists locks that store the time of their expiry in a value.
func deadlineLocks() []Variant {
	crash, skew := oneOfEach("crash"), explore.Scenario{Skew: 15 * time.Second}
	return []Variant{
		{Name: "a deadline by Redis's clock", Lock: deadlineByRedisClock("10000"), Scenario: crash},
		{
			Name: "a deadline by Redis's clock, a minute", Lock: deadlineByRedisClock("60000"), Scenario: crash,
			Unknown: "a wait that time may end",
		},
		{Name: "a deadline by the client's clock", Lock: fromAttempt(deadlineByClientClock), Scenario: crash},
		{
			Name: "a deadline by clocks that differ", Lock: fromAttempt(deadlineByClientClock), Scenario: skew, Anomaly: anomaly.TwoHolders,
			Steps: 4,
		},
	}
}

// deadlineByRedisClock stores the owner and the time of the expiry in a hash, which does not expire in Redis.
func deadlineByRedisClock(expiry string) strategy.Strategy {
	return fromScripts(`local t = redis.call('TIME')
		local now = t[1] * 1000 + math.floor(t[2] / 1000)
		if tonumber(redis.call('HGET', KEYS[1], 'until') or '0') > now then return 0 end
		redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'until', string.format('%d', now + `+expiry+`)) return 1`,
		`if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return -1 end return redis.call('DEL', KEYS[1])`)
}

// deadlineByClientClock stores the time of the expiry as the lock's value. After the stored time, it replaces the value if the value is
// unchanged.
func deadlineByClientClock(p process) attemptFunc {
	return func(ctx context.Context, _ string) (releaseFunc, error) {
		now := p.Clock.Now()
		value := strconv.FormatInt(now.Add(p.TTL).UnixMilli(), 10)
		seen, err := p.doString(ctx, "GET", key)
		until, _ := strconv.ParseInt(seen, 10, 64)
		if err = obtained(until <= now.UnixMilli(), err); err != nil {
			return nil, err
		}
		return p.compareAndDelete(value), p.obtainByScript(ctx, `if (redis.call('GET', KEYS[1]) or '') ~= ARGV[3] then return 0 end
			redis.call('SET', KEYS[1], ARGV[1]) return 1`, value, seen)
	}
}

// pipelineLocks lists locks that send several commands in a pipeline.
func pipelineLocks() []Variant {
	crash, lost := oneOfEach("crash"), oneOfEach("lost-request")
	pipeline := func(p process) redis.Pipeliner { return p.client.Pipeline() }
	transaction := func(p process) redis.Pipeliner { return p.client.TxPipeline() }
	return []Variant{
		{Name: "an expiry in a pipeline", Lock: expiryInPipeline(pipeline), Scenario: lost, Anomaly: anomaly.LeftBehind, Steps: 5},
		{Name: "an expiry in a transaction", Lock: expiryInPipeline(transaction), Scenario: crash},
	}
}

// expiryInPipeline returns a lock that is set by SETNX and PEXPIRE in one pipeline. It first reads whether the lock is free, so that it
// does not set an expiry on the lock of another owner.
func expiryInPipeline(pipe func(process) redis.Pipeliner) strategy.Strategy {
	obtain := func(p process, ctx context.Context, owner string) error {
		held, err := p.doInt(ctx, "EXISTS", key)
		if err = obtained(held == 0, err); err != nil {
			return err
		}
		together := pipe(p)
		took := together.SetNX(ctx, key, owner, 0)
		together.PExpire(ctx, key, p.TTL)
		_, err = together.Exec(ctx)
		return obtained(took.Val(), rediserr.Classify(ctx, "SET", err))
	}
	return fromFuncs(obtain, process.compareAndDelete)
}
