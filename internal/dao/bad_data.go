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

// failure says what an error of one of the store's commands means. If a key is of another type, it names the key: a script meets such keys
// before it writes.
func (s *Store) classifyError(ctx context.Context, command, runID string, err error) error {
	if rediserr.IsWrongType(err) {
		return s.findBadData(ctx, runID, rediserr.Classify(ctx, command, err))
	}
	return rediserr.Classify(ctx, command, err)
}

// badData looks for what the store cannot read, also among the orders of a run, and returns service.ErrBadData with its key, or unless it
// finds any: it may have been mended meanwhile.
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

// badFence returns the error of a largest token that is none.
func (s *Store) checkFence(ctx context.Context, key string) error {
	value, err := s.client.Get(ctx, key).Result()
	if rediserr.IsWrongType(err) {
		return badKeyError(key, fmt.Sprintf("the key %s is not a string", key))
	}
	if _, parseErr := strconv.ParseFloat(value, 64); err == nil && parseErr != nil {
		return badKeyError(key, fmt.Sprintf("the key %s holds %.40q, which is no number", key, value))
	}
	return nil
}

// parseCount reads a field of the run's hash that counts.
func parseCount(field, value string) (int64, error) {
	count, err := strconv.ParseInt(value, 10, 64)
	if err != nil || count < 0 {
		return 0, badKeyError(RunKey, fmt.Sprintf("the field %s of the key %s holds %.40q, which is no whole number", field, RunKey, value))
	}
	return count, nil
}

// badKey says what is wrong with a key, and how to mend it: of what is deleted the next sale makes a new one.
func badKeyError(key, what string) error {
	return fmt.Errorf("%w: %s; redis-cli del %s mends it", service.ErrBadData, what, key)
}

// errMended is returned if a script could not read a number that a moment later was one.
var errRepaired = fmt.Errorf("%w: it was no number, and was mended meanwhile", service.ErrBadData)
