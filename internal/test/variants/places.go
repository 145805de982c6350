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

// placedLocks lists locks that are not, or not only, one owner in the lock's key.
func placedLocks() []Variant {
	expiry, lost, nodeCrash := once("expiry"), once("lost-reply"), once("node-crash")
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
		{Name: "another key", Lock: fromScripts(other+`return 1`, release), Unjudged: nameless()},
		{Name: "another key, no owner", Lock: noOwner, Scenario: expiry, Anomaly: anomaly.ForeignRelease, Unjudged: nameless()[:1]},
		{Name: "a log that names all", Lock: logged, Scenario: expiry, Anomaly: anomaly.FalseWord},
		{Name: "a name in a set", Lock: member, Unjudged: nameless()},
		{Name: "a name in a set that stays", Lock: member, Scenario: lost, Anomaly: anomaly.LeftBehind, Steps: 2},
		{Name: "alone in a set", Lock: fromScripts(addAlone, `return redis.call('SREM', KEYS[1], ARGV[1])`)},
		{Name: "a token in a list", Lock: fromScripts(pop, `return redis.call('RPUSH', KEYS[2], 'token')`), Unjudged: nameless()},
		{Name: "two of three masters", Lock: onMasters(), Scenario: nodeCrash},
	}
}

// onMasters asks three masters one after the other, and needs two.
func onMasters() strategy.Strategy {
	s := fromSteps(func(p process, ctx context.Context, owner string) error {
		has := 0
		for _, node := range p.Nodes {
			if node.SetArgs(ctx, key, owner, redis.SetArgs{Mode: "NX", TTL: p.TTL}).Err() == nil {
				has++
			}
		}
		if has < 2 {
			_ = p.releaseOnMasters(owner)(context.WithoutCancel(ctx))
		}
		return obtained(has >= 2, nil)
	}, process.releaseOnMasters)
	s.OnNodes = true
	return s
}

func (p process) releaseOnMasters(owner string) releaseFunc {
	const script = `return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0`
	return func(ctx context.Context) error {
		had, silent := 0, 0
		for _, node := range p.Nodes {
			n, err := node.Eval(ctx, script, []string{key}, owner).Int()
			if had += n; err != nil {
				silent++
			}
		}
		switch {
		case had >= 2:
			return nil
		case had+silent >= 2:
			return lock.ErrUnavailable
		default:
			return lock.ErrExpired
		}
	}
}

// deadlineLocks lists locks whose expiry is in a value.
func deadlineLocks() []Variant {
	crash, skew := once("crash"), explore.Scenario{Skew: 15 * time.Second}
	return []Variant{
		{Name: "a deadline by Redis's clock", Lock: deadline("10000"), Scenario: crash},
		{Name: "a deadline by Redis's clock, a minute", Lock: deadline("60000"), Scenario: crash, Unknown: "a wait that time may end"},
		{Name: "a deadline by the client's clock", Lock: fromAttempt(deadlineOfClient), Scenario: crash},
		{Name: "a deadline by clocks that differ", Lock: fromAttempt(deadlineOfClient), Scenario: skew, Anomaly: anomaly.TwoHolders, Steps: 4},
	}
}

// deadline keeps the owner and the time of the expiry in a hash, which has no expiry in Redis.
func deadline(expiry string) strategy.Strategy {
	return fromScripts(`local t = redis.call('TIME')
		local now = t[1] * 1000 + math.floor(t[2] / 1000)
		if tonumber(redis.call('HGET', KEYS[1], 'until') or '0') > now then return 0 end
		redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'until', string.format('%d', now + `+expiry+`)) return 1`,
		`if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return -1 end return redis.call('DEL', KEYS[1])`)
}

// deadlineOfClient has the time of the expiry as its value, and compares and sets.
func deadlineOfClient(p process) attemptFunc {
	return func(ctx context.Context, _ string) (releaseFunc, error) {
		now := p.Clock.Now()
		value := strconv.FormatInt(now.Add(p.TTL).UnixMilli(), 10)
		seen, err := p.text(ctx, "GET", key)
		until, _ := strconv.ParseInt(seen, 10, 64)
		if err = obtained(until <= now.UnixMilli(), err); err != nil {
			return nil, err
		}
		return p.release(value), p.obtain(ctx, `if (redis.call('GET', KEYS[1]) or '') ~= ARGV[3] then return 0 end
			redis.call('SET', KEYS[1], ARGV[1]) return 1`, value, seen)
	}
}

// pipelineLocks lists locks that send commands together.
func pipelineLocks() []Variant {
	crash, lost := once("crash"), once("lost-request")
	pipeline := func(p process) redis.Pipeliner { return p.client.Pipeline() }
	transaction := func(p process) redis.Pipeliner { return p.client.TxPipeline() }
	return []Variant{
		{Name: "an expiry in a pipeline", Lock: expiryTogether(pipeline), Scenario: lost, Anomaly: anomaly.LeftBehind, Steps: 5},
		{Name: "an expiry in a transaction", Lock: expiryTogether(transaction), Scenario: crash},
	}
}

// expiryTogether looks first whether the lock is free, so that nobody gives an expiry to the lock of another.
func expiryTogether(pipe func(process) redis.Pipeliner) strategy.Strategy {
	obtain := func(p process, ctx context.Context, owner string) error {
		held, err := p.number(ctx, "EXISTS", key)
		if err = obtained(held == 0, err); err != nil {
			return err
		}
		together := pipe(p)
		took := together.SetNX(ctx, key, owner, 0)
		together.PExpire(ctx, key, p.TTL)
		_, err = together.Exec(ctx)
		return obtained(took.Val(), rediserr.Classify(ctx, "SET", err))
	}
	return fromSteps(obtain, process.release)
}
