package redistest_test

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"lockstep/redistest"
)

// Payment keys by SET NX: after a lost reply, the retry counts as done although nothing was paid.
func Example_payment() {
	show("lost-reply=1", payment(pay))
	show("lost-reply=1", payment(payAtOnce))
	// Output:
	// check: 2 were told that 10 is paid, and 0 is
	// A:start B:start A:SET/lost A:SET B:SET
	// nothing in every schedule
}

// A payment of 10 has a key, so that it is made once even if the request is repeated. A client that gets an error repeats it.
var (
	payInScript = redis.NewScript(`if redis.call("SET", KEYS[1], "done", "NX") then redis.call("INCRBY", KEYS[2], 10) end return 1`)

	pay = func(ctx context.Context, client *redis.Client) error {
		first, err := client.SetNX(ctx, "key", "done", 0).Result()
		if err == nil && first {
			err = client.IncrBy(ctx, "paid", 10).Err()
		}
		return err
	}
	payAtOnce = func(ctx context.Context, client *redis.Client) error {
		return payInScript.Run(ctx, client, []string{"key", "paid"}).Err()
	}
)

func payment(pay func(context.Context, *redis.Client) error) redistest.System {
	return redistest.System{
		Actor: newActor(func(ctx context.Context, client *redis.Client) (err error) {
			for range 2 {
				if err = pay(ctx, client); err == nil {
					return nil
				}
			}
			return err
		}),
		Check: func(e redistest.End) error {
			if told, paid := e.Succeeded(), e.Redis.Int("paid"); paid > 10 || told > 0 && paid != 10 {
				return fmt.Errorf("%d were told that 10 is paid, and %d is", told, paid)
			}
			return nil
		},
	}
}
