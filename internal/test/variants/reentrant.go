package variants

import (
	"context"

	"lockstep/internal/explore"
	"lockstep/internal/lock/anomaly"
)

// reentrant are locks that count the calls of their owner, and count wrongly.
func reentrant() []Variant {
	nested := explore.Scenario{Nested: 1}
	return []Variant{
		{Name: "reentrant, but the inner call deletes", Lock: polls(innerDeletes), Scenario: nested, Shows: anomaly.TwoHolders, Steps: 5},
		{
			Name: "reentrant, but the inner call counts down twice", Lock: polls(innerCountsTwice), Scenario: nested,
			Shows: anomaly.TwoHolders, Steps: 6,
		},
		{
			Name: "reentrant, but the inner call does not count down", Lock: polls(innerStays), Scenario: nested,
			Shows: anomaly.LeftBehind, Steps: 7,
		},
		{Name: "not reentrant", Lock: polls(setNX), Scenario: nested, Shows: anomaly.SelfDeadlock, Steps: 4},
		{Name: "not reentrant, and renewed", Lock: ofTake(renews), Scenario: nested, Shows: anomaly.Stuck, Steps: 4},
	}
}

// enter counts one more call of the owner ARGV[1], or ends with 0.
const enter = `if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
	redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
	redis.call('PEXPIRE', KEYS[1], ARGV[2])
	`

// leave counts one call less, and deletes after the last one.
func (p process) leave(owner string) unlock {
	return p.giveBack(`if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
		if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return -1 end
		if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) == 0 then redis.call('DEL', KEYS[1]) end
		return 1`, owner)
}

// counted is a reentrant lock, with an unlock of its own.
func counted(p process, unlocks func(owner string) unlock) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		got, err := p.script(ctx, enter+"return 1", nil, owner, p.ttl)
		if err == nil {
			err = obtained(got == 1)
		}
		return unlocks(owner), err
	}
}

func innerDeletes(p process) ask {
	return counted(p, func(owner string) unlock {
		return p.giveBack(`return redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 and redis.call('DEL', KEYS[1]) or -1`, owner)
	})
}

func innerCountsTwice(p process) ask {
	return counted(p, func(owner string) unlock {
		return func(ctx context.Context) error {
			_ = p.leave(owner)(ctx)
			return p.leave(owner)(ctx)
		}
	})
}

// innerStays forgets to count down when it was called from within, and has no expiry that would mend it.
func innerStays(p process) ask {
	depth := 0
	return func(ctx context.Context, owner string) (unlock, error) {
		got, err := p.script(ctx, enter+"redis.call('PERSIST', KEYS[1]) return 1", nil, owner, p.ttl)
		if err == nil {
			err = obtained(got == 1)
		}
		if err != nil {
			return nil, err
		}
		depth++
		return func(ctx context.Context) error {
			if depth--; depth > 0 {
				return nil
			}
			return p.leave(owner)(ctx)
		}, nil
	}
}
