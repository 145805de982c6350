package redisserver

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"github.com/redis/go-redis/v9"
)

var publishCalls = regexp.MustCompile(`(?m)^cmdstat_publish:calls=(\d+),`)

// CountPublishes counts the PUBLISH commands that a server has run, those inside scripts too, which no client can see.
func CountPublishes(ctx context.Context, client *redis.Client) (int64, error) {
	info, err := client.Info(ctx, "commandstats").Result()
	if err != nil {
		return 0, fmt.Errorf("INFO commandstats: %w", err)
	}
	calls := publishCalls.FindStringSubmatch(info)
	if calls == nil {
		return 0, nil // it lists only what was called
	}
	return strconv.ParseInt(calls[1], 10, 64)
}
