package redistest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/redistest"
)

// A rate limiter with INCR and EXPIRE: after a crash between the two commands, its window never ends.
func Example_limiter() {
	show("crash=1", limiter(limited))
	show("crash=1", limiter(limitedInScript))
	// Output:
	// check: the window of 2 requests never ends
	// A:start B:start A:INCR B:INCR A:crash
	// nothing in every schedule
}

// Two requests a minute.
var (
	countInScript = redis.NewScript(`local n = redis.call("INCR", KEYS[1]) if n == 1 then redis.call("EXPIRE", KEYS[1], ARGV[1]) end return n`)

	limited = func(ctx context.Context, client *redis.Client) error {
		n, err := client.Incr(ctx, "requests").Result()
		if err == nil && n == 1 {
			err = client.Expire(ctx, "requests", time.Minute).Err()
		}
		return overLimit(int(n), err)
	}
	limitedInScript = func(ctx context.Context, client *redis.Client) error {
		n, err := countInScript.Run(ctx, client, []string{"requests"}, 60).Int()
		return overLimit(n, err)
	}
)

func overLimit(n int, err error) error {
	if err == nil && n > 2 {
		err = errRefused
	}
	return err
}

func limiter(request func(context.Context, *redis.Client) error) redistest.System {
	return redistest.System{Actor: newActor(request), Check: func(e redistest.End) error {
		if e.Redis.Exists("requests") && e.Redis.Do("TTL", "requests") == -1 {
			return fmt.Errorf("the window of %d requests never ends", e.Redis.Int("requests"))
		}
		return nil
	}}
}
