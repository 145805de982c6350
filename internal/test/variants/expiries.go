package variants

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
)

// long is longer than an expiry by far.
const long = 60 * time.Second

// expiries are locks whose expiry is in a value, and does not come.
func expiries() []Variant {
	crash := once("crash")
	return []Variant{
		{Name: "an expiry in the value that nobody looks at", Lock: polls(deadlineNobodyReads), Scenario: crash, Shows: anomaly.Stuck, Steps: 4},
		{
			Name: "an expiry in the value that nobody looks at, left behind", Lock: polls(deadlineNobodyReads), Scenario: crash,
			Shows: anomaly.LeftBehind, Steps: 4,
		},
		{
			Name: "polls in the background for what stays", Lock: ofTake(pollsInTheBackground(20*time.Millisecond, process.takeForGood)),
			Scenario: crash, Shows: anomaly.Stuck, Steps: 6,
		},
		{Name: "a line that forgets nobody", Lock: ofTake(lineOfTheLiving(0)), Scenario: crash, Shows: anomaly.Stuck, Steps: 4},
	}
}

// rightExpiries are right ones, with an expiry of more than 20 s.
func rightExpiries() []Variant {
	crash := once("crash")
	crash.Polls = 3 // more of them take long
	const longerThanANewcomer = "only its code knows how long it looks on, and a newcomer would get the lock at once"
	return []Variant{
		{Name: "an expiry of a minute by Redis's clock, a crash", Lock: polls(deadlineIn(long)), Scenario: crash},
		{
			Name: "an expiry of a minute by Redis's clock, every 50 ms, a crash", Lock: pollsEvery(50*time.Millisecond, deadlineIn(long)),
			Scenario: crash,
		},
		{Name: "an expiry of a minute by the client's clock, a crash", Lock: polls(deadlineByTheClient), Scenario: crash},
		{
			Name: "an expiry of a minute by the client's clock, every 50 ms, a crash", Lock: pollsEvery(50*time.Millisecond, deadlineByTheClient),
			Scenario: crash,
		},
		{Name: "watches the holder, a crash", Lock: ofTake(watchesTheHolder), Scenario: crash},
		{
			Name: "watches the holder for a minute, a crash", Lock: ofTake(watchesForLong), Scenario: crash,
			Gap: Gap{Today: "unknown", Why: "only its code knows how long it watches"},
		},
		{
			Name: "looks on for a minute once it was refused", Lock: polls(looksOnForLong),
			Gap: Gap{Today: "unknown", Why: longerThanANewcomer},
		},
		{
			Name: "looks on for a minute once it was refused, every 50 ms", Lock: pollsEvery(50*time.Millisecond, looksOnForLong),
			Gap: Gap{Today: "unknown", Why: longerThanANewcomer},
		},
		{Name: "takes over by a timer, a crash", Lock: ofTake(takeover(writesOver)), Scenario: crash},
		{Name: "removes by a timer, a crash", Lock: ofTake(takeover(removes)), Scenario: crash},
		{
			Name: "polls in the background, every 50 ms", Lock: ofTake(pollsInTheBackground(50*time.Millisecond, process.take)), Scenario: crash,
		},
		{Name: "polls in the background", Lock: ofTake(pollsInTheBackground(20*time.Millisecond, process.take))},
		{Name: "polls in the background, a crash", Lock: ofTake(pollsInTheBackground(20*time.Millisecond, process.take)), Scenario: crash},
		{Name: "takes over by a timer, slow", Lock: ofTake(takeover(writesOver)), Scenario: once("slow")},
		{Name: "a line of the living, a crash", Lock: ofTake(lineOfTheLiving(15 * time.Second)), Scenario: crash},
	}
}

func watchesForLong(p process) take {
	p.TTL = long
	return watchesTheHolder(p)
}

// looksOnForLong only looks at the lock for long after an attempt in vain.
func looksOnForLong(p process) ask {
	var until time.Time
	return func(ctx context.Context, owner string) (unlock, error) {
		now := p.Clock.Now()
		if now.Before(until) {
			_, err := p.text(ctx, "GET", key)
			return nil, errors.Join(err, lock.ErrNotObtained)
		}
		err := p.take(ctx, owner)
		if errors.Is(err, lock.ErrNotObtained) {
			until = now.Add(long)
		}
		return p.release(owner), err
	}
}

// deadlineIn is deadlineOfRedis with another expiry.
func deadlineIn(expiry time.Duration) func(process) ask {
	return func(p process) ask {
		p.ttl = expiry.Milliseconds()
		return deadlineOfRedis(p)
	}
}

// deadlineNobodyReads writes when the lock expires, and that is all.
func deadlineNobodyReads(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		value := fmt.Sprintf("%s until %d", owner, p.Clock.Now().Add(long).UnixMilli())
		return p.release(value), p.takeForGood(ctx, value)
	}
}

// deadlineByTheClient has the time of the expiry as its value, and compares and sets.
func deadlineByTheClient(p process) ask {
	return func(ctx context.Context, _ string) (unlock, error) {
		now := p.Clock.Now()
		value := strconv.FormatInt(now.Add(long).UnixMilli(), 10)
		seen, err := p.text(ctx, "GET", key)
		if err != nil {
			return nil, err
		}
		if until, _ := strconv.ParseInt(seen, 10, 64); until > now.UnixMilli() {
			return nil, lock.ErrNotObtained
		}
		got, err := p.script(ctx, `if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
			redis.call('SET', KEYS[1], ARGV[2]) return 1`, nil, seen, value)
		if err == nil {
			err = obtained(got == 1)
		}
		return p.release(value), err
	}
}

// lineOfTheLiving is a line whose members say with each question when they were there last, by Redis's clock. It forgets those who were
// not there for so long; 0: nobody.
func lineOfTheLiving(patience time.Duration) func(process) take {
	const isHere = `local t = redis.call('TIME')
		local now = t[1] * 1000 + math.floor(t[2] / 1000)
		redis.call('HSET', KEYS[3], ARGV[1], string.format('%d', now))
		if not redis.call('ZSCORE', KEYS[2], ARGV[1]) then redis.call('ZADD', KEYS[2], redis.call('INCR', KEYS[4]), ARGV[1]) end
		`
	const asks = isHere + `for _, who in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
			if tonumber(ARGV[2]) > 0 and now - tonumber(redis.call('HGET', KEYS[3], who)) > tonumber(ARGV[2]) then
				redis.call('ZREM', KEYS[2], who) redis.call('HDEL', KEYS[3], who)
			end -- of one who is gone
		end
		if redis.call('ZRANK', KEYS[2], ARGV[1]) > 0 or not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[3]) then return 0 end
		redis.call('ZREM', KEYS[2], ARGV[1]) redis.call('HDEL', KEYS[3], ARGV[1])
		return 1`
	return func(p process) take {
		return func(ctx context.Context, owner string) (*lock.Lease, error) {
			keys := []string{under("line"), under("seen"), under("came")}
			_, err := p.script(ctx, isHere+`return 0`, keys, owner)
			if err == nil {
				err = p.until(ctx, func() (bool, error) {
					got, err := p.script(ctx, asks, keys, owner, patience.Milliseconds(), p.ttl)
					return got == 1, err
				})
			}
			if err != nil {
				return nil, err
			}
			return p.lease(ctx, p.release(owner)), nil
		}
	}
}
