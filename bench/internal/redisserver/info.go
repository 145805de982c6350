package redisserver

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"github.com/redis/go-redis/v9"
)

var publishCalls = regexp.MustCompile(`(?m)^cmdstat_publish:calls=(\d+),`)

// CountPublishes returns the number of PUBLISH commands that a server has run, including those of scripts, which no client sees.
func CountPublishes(ctx context.Context, client *redis.Client) (int64, error) {
	info, err := client.Info(ctx, "commandstats").Result()
	if err != nil {
		return 0, fmt.Errorf("INFO commandstats: %w", err)
	}
	calls := publishCalls.FindStringSubmatch(info)
	if calls == nil {
		return 0, nil // commands that were never called are not listed
	}
	return strconv.ParseInt(calls[1], 10, 64)
}
