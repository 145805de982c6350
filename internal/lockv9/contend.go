package lockv9

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
)

// claim is one try to take the lock, and what was tried.
type claim struct {
	value string // that no other claim has: a late release of another one must not remove this one's
	nodes []*node
	sent  time.Time // the first request
}

// contend takes the lock on a quorum of the nodes. While another process has it, or nobody got a quorum, it tries again after a pause
// of chance, so that those who got in each other's way do not do so again.
func (l *Locker) contend(ctx context.Context) (claim, error) {
	if l.yield {
		l.yield = false
		_ = lock.Sleep(ctx, l.opts.Clock, l.opts.RetryInterval) // the longest pause of the others; the loop looks at ctx itself
	}
	for ctx.Err() == nil {
		c, err := l.acquire(ctx)
		if !errors.Is(err, lock.ErrNotObtained) {
			return c, err
		}
		half := l.opts.RetryInterval / 2
		_ = lock.Sleep(ctx, l.opts.Clock, half+time.Duration(l.opts.Rand(int64(half)+1))) // the loop looks at ctx itself
	}
	return claim{}, lock.WaitError(ctx, l.opts.WaitTimeout)
}

// acquire asks all nodes for the lock once. Without a quorum in time it gives back what it got.
func (l *Locker) acquire(ctx context.Context) (claim, error) {
	c := claim{value: fmt.Sprintf("%s:%x", l.process, l.opts.Rand(math.MaxInt64)), sent: l.opts.Clock.Now()}
	var t tally
	t, c.nodes = l.vote(ctx, func(ctx context.Context, client redis.Cmdable) (bool, error) {
		err := client.SetArgs(ctx, l.opts.Key, c.value, redis.SetArgs{Mode: "NX", TTL: l.opts.TTL}).Err()
		if errors.Is(err, redis.Nil) {
			return false, nil
		}
		return err == nil, err
	})
	if t.yes >= l.quorum() && l.opts.Clock.Now().Sub(c.sent) < l.validity() {
		return c, nil
	}
	_ = lock.WithDetachedTimeout(ctx, l.opts.Clock, func(ctx context.Context) error { return l.release(ctx, c) }) // what matters is said by t
	switch {
	case ctx.Err() != nil:
		return claim{}, lock.WaitError(ctx, l.opts.WaitTimeout)
	case t.failed > len(l.nodes)-l.quorum():
		return claim{}, l.unavailable("SET", t)
	}
	return claim{}, lock.ErrNotObtained
}
