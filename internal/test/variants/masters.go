package variants

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/strategy"
)

// masters are locks on several masters, which they ask one after the other. Their client bounds how long it waits for an answer.
func masters() []Variant {
	hang := once("node-hang")
	hang.Nodes = 2
	return []Variant{
		{Name: "all masters have to answer", Lock: onMasters(2), Scenario: hang, Shows: anomaly.Stuck, Steps: 14},
	}
}

// rightMasters do without one that hangs.
func rightMasters() []Variant {
	hang := once("node-hang")
	hang.Nodes, hang.Try = 3, 2
	return []Variant{{Name: "two of three masters have to answer", Lock: onMasters(2), Scenario: hang}}
}

func onMasters(needed int) strategy.Strategy {
	s := polls(func(p process) ask {
		return func(ctx context.Context, owner string) (unlock, error) {
			release := func(ctx context.Context) error { return releaseOn(ctx, p.Nodes, owner, needed) }
			has := 0
			for _, node := range p.Nodes {
				if node.SetArgs(ctx, key, owner, redis.SetArgs{Mode: "NX", TTL: p.TTL}).Err() == nil {
					has++
				}
			}
			if has >= needed {
				return release, nil
			}
			return nil, errors.Join(obtained(false), release(context.WithoutCancel(ctx)))
		}
	})
	s.OnNodes = true
	return s
}

// releaseOn gives a lock back on each of these masters.
func releaseOn(ctx context.Context, nodes []redis.Cmdable, owner string, needed int) error {
	given, silent := 0, 0
	for _, node := range nodes {
		n, err := node.Eval(ctx, compareAndDelete, []string{key}, owner).Int()
		if given += n; err != nil {
			silent++
		}
	}
	switch {
	case given >= needed:
		return nil
	case given+silent >= needed:
		return lock.ErrUnavailable
	default:
		return lock.ErrExpired
	}
}

const compareAndDelete = `return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0`
