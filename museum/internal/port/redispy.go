package port

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// RedisPy is the lock of redis-py as its users describe it: a key with a token, and a release that forgets the token before it asks Redis.
type RedisPy struct {
	client *redis.Client
	key    string
	lease  time.Duration
	give   *redis.Script

	token string // "" if it is not locked, as far as it knows
}

// NewRedisPy makes one. One caller at a time may use it.
func NewRedisPy(client *redis.Client, key string, lease time.Duration) *RedisPy {
	return &RedisPy{client: client, key: key, lease: lease, give: redis.NewScript(`
		if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
		return redis.call('DEL', KEYS[1])`)}
}

// Acquire tries once.
func (r *RedisPy) Acquire(ctx context.Context, token string) error {
	took, err := r.client.SetNX(ctx, r.key, token, r.lease).Result()
	switch {
	case err != nil:
		return err
	case !took:
		return ErrTaken
	}
	r.token = token
	return nil
}

// Release fails with ErrUnlocked if it does not know that it is locked.
func (r *RedisPy) Release(ctx context.Context) error {
	token := r.token
	if token == "" {
		return ErrUnlocked
	}
	r.token = ""
	gave, err := r.give.Run(ctx, r.client, []string{r.key}, token).Bool()
	if err == nil && !gave {
		return ErrUnlocked
	}
	return err
}
