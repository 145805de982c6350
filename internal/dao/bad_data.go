package dao

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock/rediserr"
	"lockstep/internal/service"
)

// classifyError classifies an error of one of the store's commands. After WRONGTYPE it looks for the offending key and names it; scripts
// read all their keys before they write, so nothing was written.
func (s *Store) classifyError(ctx context.Context, command, runID string, err error) error {
	if rediserr.IsWrongType(err) {
		return s.findBadData(ctx, runID, rediserr.Classify(ctx, command, err))
	}
	return rediserr.Classify(ctx, command, err)
}

// findBadData searches the shop's keys and the orders of a run for data that the store cannot read. It returns service.ErrBadData with the
// first such key. It returns fallback if it finds none, because the key may have been repaired meanwhile.
func (s *Store) findBadData(ctx context.Context, runID string, fallback error) error {
	newest, older := OrdersKeys(runID)
	wanted := [][2]string{
		{RunKey, "hash"}, {newest, "hash"}, {older, "hash"}, {pastRunsKey, "list"}, {fenceKey, "string"}, {replicasKey, "hash"},
	}
	types := make([]*redis.StatusCmd, len(wanted))
	_, err := s.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, key := range wanted {
			types[i] = pipe.Type(ctx, key[0])
		}
		return nil
	})
	if err != nil {
		return fallback
	}
	for i, key := range wanted {
		if keyType := types[i].Val(); keyType != key[1] && keyType != "none" {
			return badKeyError(key[0], fmt.Sprintf("the key %s is of type %s, not %s", key[0], keyType, key[1]))
		}
	}
	for _, field := range []string{"sold", "max_in_flight"} {
		if value, err := s.client.HGet(ctx, RunKey, field).Result(); err == nil {
			if _, err := parseCount(field, value); err != nil {
				return err
			}
		}
	}
	if err := s.checkFence(ctx, fenceKey); err != nil {
		return err
	}
	segments, _ := s.client.HGet(ctx, RunKey, "segments").Int()
	for i := range segments {
		stock, fence := SegmentKeys(i + 1)
		value, err := s.client.Get(ctx, stock).Result()
		if _, err := parseStock(ctx, stock, value, err); errors.Is(err, service.ErrBadStock) {
			return err
		}
		if err := s.checkFence(ctx, fence); err != nil {
			return err
		}
	}
	return fallback
}

// checkFence returns an error if the key of the largest fencing token holds something other than a number.
func (s *Store) checkFence(ctx context.Context, key string) error {
	value, err := s.client.Get(ctx, key).Result()
	if rediserr.IsWrongType(err) {
		return badKeyError(key, fmt.Sprintf("the key %s is not a string", key))
	}
	if _, parseErr := strconv.ParseFloat(value, 64); err == nil && parseErr != nil {
		return badKeyError(key, fmt.Sprintf("the key %s holds %.40q, which is not a number", key, value))
	}
	return nil
}

// parseCount parses a counter in a field of the run's hash.
func parseCount(field, value string) (int64, error) {
	count, err := strconv.ParseInt(value, 10, 64)
	if err != nil || count < 0 {
		return 0, badKeyError(RunKey, fmt.Sprintf("the field %s of the key %s holds %.40q, which is not a whole number", field, RunKey, value))
	}
	return count, nil
}

// badKeyError returns a service.ErrBadData with the problem of a key and its remedy: to delete the key, because the next sale recreates it.
func badKeyError(key, problem string) error {
	return fmt.Errorf("%w: %s; redis-cli del %s repairs it", service.ErrBadData, problem, key)
}

// errRepaired is returned when a script could not parse a number that was valid when the store looked for it a moment later.
var errRepaired = fmt.Errorf("%w: it was not a number, and has been repaired", service.ErrBadData)
