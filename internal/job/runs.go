package job

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
)

// MaxTicks is how many ticks are remembered: 28 hours of ticks of a second.
const MaxTicks = 100_000

// Runs is the record of a job's runs, in Redis: the hash {NAME}:runs, tick -> how often it was run. It lives as long as MaxTicks last.
type Runs struct {
	Client redis.Cmdable
	Name   string // of the job
	Every  Every
}

func (r *Runs) key() string { return "{" + r.Name + "}:runs" }

// field is a tick as the record calls it, in UTC.
func field(tick time.Time) string { return tick.UTC().Format(time.RFC3339Nano) }

// Record counts one more run of a tick. It fails as lock.Failed says.
func (r *Runs) Record(ctx context.Context, tick time.Time) error {
	memory := MaxTicks * time.Duration(r.Every)
	_, err := r.Client.TxPipelined(ctx, func(tx redis.Pipeliner) error {
		tx.HIncrBy(ctx, r.key(), field(tick), 1)
		tx.HDel(ctx, r.key(), field(tick.Add(-memory)))
		tx.PExpire(ctx, r.key(), memory)
		return nil
	})
	if err != nil {
		return lock.Failed(ctx, "HINCRBY "+r.key(), err)
	}
	return nil
}

// Count says how often each tick from first to last was run; of more than MaxTicks, the last ones. It fails as lock.Failed says.
func (r *Runs) Count(ctx context.Context, first, last time.Time) (Tally, error) {
	var tally Tally
	for tick := last; !tick.Before(first) && len(tally) < MaxTicks; tick = tick.Add(-time.Duration(r.Every)) {
		tally = append(tally, Count{Tick: tick})
	}
	slices.Reverse(tally)
	for some := range slices.Chunk(tally, 1000) {
		fields := make([]string, len(some))
		for i, count := range some {
			fields[i] = field(count.Tick)
		}
		values, err := r.Client.HMGet(ctx, r.key(), fields...).Result()
		if err != nil {
			return nil, lock.Failed(ctx, "HMGET "+r.key(), err)
		}
		for i, value := range values {
			if value == nil {
				continue // never run
			}
			if some[i].Runs, err = strconv.Atoi(fmt.Sprint(value)); err != nil {
				return nil, fmt.Errorf("HMGET %s %s: %w", r.key(), fields[i], err)
			}
		}
	}
	return tally, nil
}
