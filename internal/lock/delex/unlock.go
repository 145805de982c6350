package delex

import (
	"context"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
)

// unlock deletes the lock if it still belongs to owner.
func (l *Locker) unlock(ctx context.Context, owner string) error {
	deleted, err := l.compareAndDelete(ctx, owner)
	switch {
	case err != nil:
		return rediserr.Classify(ctx, l.command, err)
	case deleted == 0: // another owner has the lock, or nobody
		return lock.ErrNotOwner
	}
	return nil
}

// compareAndDelete sends the server's own command, and returns how many keys that has deleted: 1 or 0.
func (l *Locker) compareAndDelete(ctx context.Context, owner string) (int64, error) {
	if l.command == "DELIFEQ" { // for which go-redis has no method
		return l.client.Do(ctx, l.command, l.opts.Key, owner).Int64()
	}
	return l.client.DelExArgs(ctx, l.opts.Key, redis.DelExArgs{Mode: "IFEQ", MatchValue: owner}).Result()
}
