package variants

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// deadlineOfRedis keeps the owner and the time of the expiry in a hash, which has no expiry in Redis. Its scripts are loaded once, so that
// the command itself does not say that it asks for the time.
func deadlineOfRedis(p process) ask {
	grab := redis.NewScript(`local t = redis.call('TIME')
		local now = t[1] * 1000 + math.floor(t[2] / 1000)
		if tonumber(redis.call('HGET', KEYS[1], 'until') or '0') > now then return 0 end
		redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'until', string.format('%d', now + ARGV[2])) return 1`)
	return func(ctx context.Context, owner string) (unlock, error) {
		got, err := replied(ctx, []any{"EVALSHA"}, grab.Run(ctx, p.client, []string{key}, owner, p.ttl).Int64)
		if err == nil {
			err = obtained(got == 1)
		}
		return p.giveBack(`if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return -1 end return redis.call('DEL', KEYS[1])`, owner), err
	}
}
