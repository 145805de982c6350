package workshop_test

import (
	"context"
	"errors"
	"strconv"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
)

const (
	free    = "{" + lock.Key + "}:free"
	counter = "{" + lock.Key + "}:fence"
)

// listens begins to listen, asks, and waits for a message.
func (p process) listens(ctx context.Context, owner string, room int, release unlock) (*lock.Lease, error) {
	rung := make(chan struct{}, room)
	defer p.Notifier.Subscribe(free, func(string) {
		select {
		case rung <- struct{}{}:
		default:
		}
	})()
	for {
		err := p.set(ctx, owner, redis.SetArgs{Mode: "NX", TTL: p.TTL})
		if err == nil {
			return p.lease(ctx, release), nil
		}
		if errors.Is(err, lock.ErrNotObtained) {
			err = p.Client.Incr(ctx, "{"+lock.Key+"}:waited").Err()
		}
		if err == nil {
			err = p.Clock.Wait(ctx, rung)
		}
		if err != nil {
			return nil, err
		}
	}
}

// noRoom loses a message that comes while nobody receives.
func noRoom(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		return p.listens(ctx, owner, 0, p.releaseBy(`-- release
			if redis.call('GET', KEYS[1]) ~= ARGV[1] then return -1 end
			redis.call('DEL', KEYS[1]) redis.call('PUBLISH', ARGV[2], 'free') return 1`, owner, free))
	}
}

// toldTooSoon tells the waiters before it deletes.
func toldTooSoon(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		return p.listens(ctx, owner, 1, func(ctx context.Context) error {
			if _, err := p.script(ctx, `-- tell
				return redis.call('PUBLISH', ARGV[1], 'free')`, nil, free); err != nil {
				return err
			}
			return p.release(owner)(ctx)
		})
	}
}

// takeFenced takes a lock whose value is its token.
func (p process) takeFenced(ctx context.Context) (int64, error) {
	token, err := p.script(ctx, `-- take
		if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
		local token = redis.call('INCR', KEYS[2])
		redis.call('SET', KEYS[1], token, 'PX', ARGV[1])
		return token`, []string{counter}, p.TTL.Milliseconds())
	if err == nil && token == 0 {
		err = lock.ErrNotObtained
	}
	return token, err
}

// fencedBy is a lock with tokens, which is given back under a condition in Lua.
func fencedBy(condition string) func(process) take {
	return func(p process) take {
		return func(ctx context.Context, _ string) (*lock.Lease, error) {
			token, err := p.takeFenced(ctx)
			return p.fenced(ctx, token, p.releaseBy(`-- release
				local held = redis.call('GET', KEYS[1])
				if not held then return 0 end
				if `+condition+` then return redis.call('DEL', KEYS[1]) end
				return -1`, token)), err
		}
	}
}

func fencedByTheClient(p process) take {
	return func(ctx context.Context, _ string) (*lock.Lease, error) {
		token, err := p.takeFenced(ctx)
		return p.fenced(ctx, token, func(ctx context.Context) error {
			if err := p.look(ctx, strconv.FormatInt(token, 10)); err != nil {
				return err
			}
			return p.delete(ctx)
		}), err
	}
}

// onNodes is a lock on the majority of several masters. release gives it back on one of them.
func onNodes(errorsAgree bool, release func(p process, ctx context.Context, node redis.Cmdable, owner string) error) func(process) take {
	return func(p process) take {
		return func(ctx context.Context, owner string) (*lock.Lease, error) {
			agreed := 0
			for _, node := range p.Nodes {
				err := node.SetArgs(ctx, p.Key, owner, redis.SetArgs{Mode: "NX", TTL: p.TTL}).Err()
				if err == nil || errorsAgree && !errors.Is(err, redis.Nil) {
					agreed++
				}
			}
			giveBack := func(ctx context.Context) (err error) {
				for _, node := range p.Nodes {
					err = errors.Join(err, release(p, ctx, node, owner))
				}
				return err
			}
			if agreed <= len(p.Nodes)/2 {
				_ = lock.WithDetachedTimeout(ctx, p.Clock, giveBack)
				return nil, lock.ErrNotObtained
			}
			return p.lease(ctx, giveBack), nil
		}
	}
}

func (p process) releaseOn(ctx context.Context, node redis.Cmdable, owner string) error {
	err := node.Eval(ctx, `-- release
		return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0`, []string{p.Key}, owner).Err()
	return classified(ctx, err)
}

func (p process) deleteOn(ctx context.Context, node redis.Cmdable, _ string) error {
	return classified(ctx, node.Del(ctx, p.Key).Err())
}

func classified(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	return rediserr.Classify(ctx, "DEL", err)
}

func tokenAfterwards(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		if err := p.set(ctx, owner, redis.SetArgs{Mode: "NX", TTL: p.TTL}); err != nil {
			return nil, err
		}
		token, err := p.Client.Incr(ctx, counter).Result()
		return p.fenced(ctx, token, p.release(owner)), classified(ctx, err)
	}
}

func tokenOfTheClock(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		err := p.set(ctx, owner, redis.SetArgs{Mode: "NX", TTL: p.TTL})
		return p.fenced(ctx, p.Clock.Now().UnixMilli(), p.release(owner)), err
	}
}

func tokenOfTheProcess(p process) take {
	last := int64(0)
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		err := p.set(ctx, owner, redis.SetArgs{Mode: "NX", TTL: p.TTL})
		if err == nil {
			last++
		}
		return p.fenced(ctx, last, p.release(owner)), err
	}
}
