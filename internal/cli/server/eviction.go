package server

import (
	"context"
	"log/slog"

	"lockstep/internal/dao"
	"lockstep/internal/shop/config"
)

// Eviction returns the policy by which the configured Redis evicts keys, "" if it evicts none, or does not tell. The embedded one does not.
func Eviction(ctx context.Context, cfg config.Config) (policy string, err error) {
	if len(cfg.Redis.Addrs) == 0 {
		return "", nil
	}
	redis, err := dao.Open(ctx, cfg.Redis)
	if err != nil {
		return "", err
	}
	return redis.Eviction(ctx), redis.Close()
}

// warnOfEviction warns if Redis may evict a lock that is held.
func warnOfEviction(ctx context.Context, redis *dao.Redis, log *slog.Logger) {
	if policy := redis.Eviction(ctx); policy != "" {
		log.Warn("Redis evicts keys when it is out of memory, and locks are among them: set maxmemory-policy noeviction",
			"maxmemory-policy", policy)
	}
}
