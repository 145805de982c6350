package server

import (
	"context"
	"log/slog"

	"lockstep/internal/dao"
)

// warnOfEviction warns if Redis may evict a lock that is held.
func warnOfEviction(ctx context.Context, redis *dao.Redis, log *slog.Logger) {
	if policy := redis.EvictionPolicy(ctx); policy != "" {
		log.Warn("Redis evicts keys when it is out of memory, and locks are among them: set maxmemory-policy noeviction",
			"maxmemory-policy", policy)
	}
}
