package lockv1

import (
	"context"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
)

// unlock deletes the lock, whoever holds it by now.
func (l *Locker) unlock(ctx context.Context, _ string) error {
	deleted, err := l.client.Del(ctx, l.opts.Key).Result()
	switch {
	case err != nil:
		return rediserr.Classify(ctx, "DEL", err)
	case deleted == 0:
		return lock.ErrExpired
	}
	return nil
}
