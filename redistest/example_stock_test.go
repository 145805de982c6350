package redistest_test

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"lockstep/redistest"
)

// A stock that is decremented before it is checked never sells too much, but a crash in between loses a piece forever.
func Example_stock() {
	show("crash=1", counter(decrement))
	show("crash=1", counter(decrementInScript))
	// Output:
	// check: the stock stays at -1: of the next delivery, as many are never sold
	// A:start B:start A:DECR B:DECR B:crash
	// nothing in every schedule
}

// A stock that is decremented before it is checked.
var (
	takeIfAny = redis.NewScript(`if tonumber(redis.call("GET", KEYS[1])) > 0 then return redis.call("DECR", KEYS[1]) end return -1`)

	decrement = func(ctx context.Context, client *redis.Client) error {
		left, err := client.Decr(ctx, "inventory").Result()
		if err == nil && left < 0 {
			client.Incr(ctx, "inventory")
			err = errRefused
		}
		return err
	}
	decrementInScript = func(ctx context.Context, client *redis.Client) error {
		left, err := takeIfAny.Run(ctx, client, []string{"inventory"}).Int()
		if err == nil && left < 0 {
			err = errRefused
		}
		return err
	}
)

func counter(take func(context.Context, *redis.Client) error) redistest.System {
	return redistest.System{
		Setup: setInitially("inventory", 1), Actor: newActor(take),
		Check: func(e redistest.End) error {
			switch sold, left := e.Succeeded(), e.Redis.Int("inventory"); {
			case sold > 1:
				return fmt.Errorf("%d of 1 are sold", sold)
			case left < 0:
				return fmt.Errorf("the stock stays at %d: of the next delivery, as many are never sold", left)
			default:
				return nil
			}
		},
	}
}
