package redistest_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/redistest"
)

// A queue of due jobs: if a job is done and then removed, it may be done twice; if it is removed first, a crash loses it; if it is claimed
// for a time, neither happens.
func Example_queue() {
	show("", queue(takeThenRemove))
	show("crash=1", queue(removeThenTake))
	show("crash=1", queue(claimThenRemove))
	// Output:
	// check: the job is done 2 times
	// A:start B:start A:ZRANGE A:INCR B:ZRANGE A:ZREM B:INCR B:ZREM
	// check: the job is lost
	// A:start B:start A:ZRANGE A:ZREM B:ZRANGE A:crash
	// nothing in every schedule
}

// A queue of jobs, sorted by the time when they are due. Doing a job increments a counter.
var (
	claim = redis.NewScript(`
		local due = redis.call("ZRANGEBYSCORE", KEYS[1], "-inf", ARGV[1], "LIMIT", 0, 1)
		if due[1] then redis.call("ZADD", KEYS[1], ARGV[1] + 60, due[1]) end
		return due[1]`)

	takeThenRemove = func(ctx context.Context, client *redis.Client) error {
		return eachDue(ctx, client, func(job string) error {
			return errors.Join(client.Incr(ctx, "done").Err(), client.ZRem(ctx, "due", job).Err())
		})
	}
	removeThenTake = func(ctx context.Context, client *redis.Client) error {
		return eachDue(ctx, client, func(job string) error {
			removed, err := client.ZRem(ctx, "due", job).Result()
			if err == nil && removed == 1 {
				err = client.Incr(ctx, "done").Err()
			}
			return err
		})
	}
	claimThenRemove = func(ctx context.Context, client *redis.Client) error { // a claim lasts for a minute
		job, err := claim.Run(ctx, client, []string{"due"}, time.Now().Unix()).Text()
		if errors.Is(err, redis.Nil) {
			return nil
		}
		if err != nil {
			return err
		}
		return errors.Join(client.Incr(ctx, "done").Err(), client.ZRem(ctx, "due", job).Err())
	}
)

func eachDue(ctx context.Context, client *redis.Client, do func(job string) error) error {
	now := strconv.FormatInt(time.Now().Unix(), 10)
	jobs, err := client.ZRangeArgs(ctx, redis.ZRangeArgs{Key: "due", Start: "-inf", Stop: now, ByScore: true, Count: 1}).Result()
	for _, job := range jobs {
		err = errors.Join(err, do(job))
	}
	return err
}

func queue(consume func(context.Context, *redis.Client) error) redistest.System {
	return redistest.System{
		Setup: func(r redistest.Redis) { r.Do("ZADD", "due", 0, "job") },
		Actor: newActor(consume),
		Check: func(e redistest.End) error {
			switch done := e.Redis.Int("done"); {
			case done > 1 && e.InDoubt() == 0:
				return fmt.Errorf("the job is done %d times", done)
			case done == 0 && !e.Redis.Exists("due"):
				return errors.New("the job is lost")
			default:
				return nil
			}
		},
	}
}
