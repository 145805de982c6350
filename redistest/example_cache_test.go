package redistest_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"lockstep/redistest"
)

// A cache in front of a database: a reader that fills it late restores the value that a writer has just removed.
func Example_cache() {
	show("", cache(fill))
	show("", cache(fillInScript))
	// Output:
	// check: the cache stays old, and the database is new
	// reader:start writer:start reader:GET reader:GET writer:SET writer:DEL reader:SET
	// nothing in every schedule
}

// fillIfCurrent fills a cache with a value only while the database, here a key, still has it.
var fillIfCurrent = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then redis.call("SET", KEYS[2], ARGV[1]) end return 1`)

func cache(fill func(ctx context.Context, client *redis.Client, value string) error) redistest.System {
	return redistest.System{
		Setup: setInitially("database", "old"),
		Kinds: []redistest.Kind{
			{Name: "reader", Actor: newActor(func(ctx context.Context, client *redis.Client) error {
				if client.Get(ctx, "cache").Err() == nil {
					return nil
				}
				value, err := client.Get(ctx, "database").Result()
				if err != nil {
					return err
				}
				return fill(ctx, client, value)
			})},
			{Name: "writer", Actor: newActor(func(ctx context.Context, client *redis.Client) error {
				return errors.Join(client.Set(ctx, "database", "new", 0).Err(), client.Del(ctx, "cache").Err())
			})},
		},
		Check: func(e redistest.End) error {
			if cached := e.Redis.String("cache"); e.Redis.Exists("cache") && cached != e.Redis.String("database") {
				return fmt.Errorf("the cache stays %s, and the database is %s", cached, e.Redis.String("database"))
			}
			return nil
		},
	}
}

func fill(ctx context.Context, client *redis.Client, value string) error {
	return client.Set(ctx, "cache", value, 0).Err()
}

func fillInScript(ctx context.Context, client *redis.Client, value string) error {
	return fillIfCurrent.Run(ctx, client, []string{"database", "cache"}, value).Err()
}
