package dao

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/service"
)

// LockKey looks at a lock's key from outside, whatever strategy made it.
type LockKey struct {
	client redis.UniversalClient
	key    string
}

// NewLockKey looks at the key of that name.
func NewLockKey(client redis.UniversalClient, key string) *LockKey {
	return &LockKey{client: client, key: key}
}

// Look asks for the key's type, value and expiry at one moment.
func (k *LockKey) Look(ctx context.Context) (service.KeyState, error) {
	var kind *redis.StatusCmd
	var value *redis.StringCmd
	var owners *redis.StringSliceCmd
	var ttl *redis.Cmd
	_, err := k.client.TxPipelined(ctx, func(tx redis.Pipeliner) error {
		kind = tx.Type(ctx, k.key)
		value = tx.Get(ctx, k.key)
		owners = tx.HKeys(ctx, k.key)
		ttl = tx.Do(ctx, "PTTL", k.key)
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) && !redis.HasErrorPrefix(err, "WRONGTYPE") { // one of GET and HKEYS never fits
		return service.KeyState{}, lock.Failed(ctx, "MULTI look at "+k.key, err)
	}
	millis, err := ttl.Int64()
	if err != nil {
		return service.KeyState{}, lock.Failed(ctx, "PTTL "+k.key, err)
	}
	state := service.KeyState{Name: k.key, Type: kind.Val(), Holder: value.Val(), TTLMillis: millis}
	if len(owners.Val()) > 0 {
		state.Holder = owners.Val()[0]
	}
	return state, nil
}

// Remove deletes the key.
func (k *LockKey) Remove(ctx context.Context) (bool, error) {
	deleted, err := k.client.Del(ctx, k.key).Result()
	if err != nil {
		return false, lock.Failed(ctx, "DEL "+k.key, err)
	}
	return deleted > 0, nil
}
