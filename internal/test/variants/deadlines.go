package variants

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// deadlineOfTheClient is deadlineOfRedis, but the time of the expiry is by the clock of the one who asks.
func deadlineOfTheClient(p process) ask {
	return deadline(p, `ARGV[2] + 0`, func() int64 { return p.Clock.Now().UnixMilli() + p.ttl })
}

// deadlineOfRedis keeps the owner and the time of the expiry in a hash, which has no expiry in Redis. Its scripts are loaded once, so that
// the command itself does not say that it asks for the time.
func deadlineOfRedis(p process) ask {
	return deadline(p, `now + ARGV[2]`, func() int64 { return p.ttl })
}

// deadline keeps this time, of what is sent.
func deadline(p process, until string, sent func() int64) ask {
	grab := redis.NewScript(`local t = redis.call('TIME')
		local now = t[1] * 1000 + math.floor(t[2] / 1000)
		if tonumber(redis.call('HGET', KEYS[1], 'until') or '0') > now then return 0 end
		redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'until', string.format('%d', ` + until + `)) return 1`)
	return func(ctx context.Context, owner string) (unlock, error) {
		got, err := replied(ctx, []any{"EVALSHA"}, grab.Run(ctx, p.client, []string{key}, owner, sent()).Int64)
		if err == nil {
			err = obtained(got == 1)
		}
		return p.giveBack(`if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return -1 end return redis.call('DEL', KEYS[1])`, owner), err
	}
}
