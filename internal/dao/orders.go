package dao

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock/rediserr"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
)

// Order looks an order up, in the current run and in the earlier runs whose orders are kept.
func (s *Store) Order(ctx context.Context, id string) (history.Order, error) {
	run, err := s.Run(ctx)
	if err != nil {
		return history.Order{}, err
	}
	runs, err := s.client.LRange(ctx, overKey, 0, -1).Result()
	if err != nil {
		return history.Order{}, rediserr.Classify(ctx, "LRANGE runs_over", err)
	}
	var lines []*redis.StringCmd
	var inFlight *redis.BoolCmd
	_, err = s.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		inFlight = pipe.HExists(ctx, inFlightKey, id) // before the orders: a sale writes first and leaves afterwards
		for _, runID := range append([]string{run.ID}, runs...) {
			newest, older := OrdersKeys(runID)
			lines = append(lines, pipe.HGet(ctx, newest, id), pipe.HGet(ctx, older, id))
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return history.Order{}, rediserr.Classify(ctx, "HGET orders", err)
	}
	for _, line := range lines {
		if errors.Is(line.Err(), redis.Nil) {
			continue
		}
		if line.Err() != nil { // a Cluster's pipeline returns its first error only
			return history.Order{}, rediserr.Classify(ctx, "HGET orders", line.Err())
		}
		var order history.Order
		if err := json.Unmarshal([]byte(line.Val()), &order); err != nil {
			return history.Order{}, fmt.Errorf("order %s: %w", id, err)
		}
		return order, nil
	}
	if inFlight.Err() != nil {
		return history.Order{}, rediserr.Classify(ctx, "HEXISTS in_flight", inFlight.Err())
	}
	if inFlight.Val() {
		return history.Order{}, service.ErrInFlight
	}
	return history.Order{}, service.ErrNoOrder
}

// forgetRunsOver deletes the orders of all earlier runs when Redis is out of memory. What cannot be deleted stays.
func (s *Store) forgetRunsOver(ctx context.Context) {
	runs, err := s.client.LRange(ctx, overKey, 0, -1).Result()
	if err != nil {
		return
	}
	for _, runID := range runs {
		newest, older := OrdersKeys(runID)
		if s.client.Del(ctx, newest, older).Err() == nil {
			s.client.LRem(ctx, overKey, 0, runID)
		}
	}
}

// isOutOfMemory recognises a refusal for lack of memory. Before Redis 7 the error of a script has the word in the middle.
func isOutOfMemory(err error) bool {
	return redis.HasErrorPrefix(err, "OOM") || redis.HasErrorPrefix(err, "ERR") && strings.Contains(err.Error(), "-OOM ")
}
