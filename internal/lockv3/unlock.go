package lockv3

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
)

// unlock deletes the lock if it still belongs to owner, but it compares in one command and deletes in another.
func (l *Locker) unlock(ctx context.Context, owner string) error {
	holder, err := l.client.Get(ctx, l.opts.Key).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return lock.ErrExpired
	case err != nil:
		return rediserr.Classify(ctx, "GET", err)
	case holder != owner:
		return lock.ErrNotOwner
	}
	deleted, err := l.client.Del(ctx, l.opts.Key).Result()
	switch {
	case err != nil:
		return rediserr.Classify(ctx, "DEL", err)
	case deleted == 0:
		return lock.ErrExpired
	}
	return nil
}
