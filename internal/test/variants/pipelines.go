package variants

import (
	"context"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/rediserr"
)

// pipelines are locks that take a pipeline for a transaction.
func pipelines() []Variant {
	return []Variant{
		{
			Name: "SET NX and PEXPIRE in a pipeline", Lock: polls(expiryInTheSame(process.pipeline)), Scenario: once("crash"),
			Shows: anomaly.LeftBehind, Steps: 4,
		},
		{
			Name: "SET NX and PEXPIRE in a pipeline, and the connection breaks", Lock: polls(expiryInTheSame(process.pipeline)),
			Scenario: once("lost-request"), Shows: anomaly.LeftBehind, Steps: 5,
		},
		{Name: "reads two keys in a pipeline", Lock: polls(nameAndLease(process.pipeline)), Shows: anomaly.TwoHolders, Steps: 6},
		{Name: "PUBLISH before DEL, in a pipeline", Lock: ofTake(rings(process.pipeline, publish, del)), Shows: anomaly.Stuck, Steps: 8},
	}
}

// rightPipelines are those that use a transaction, or need none.
func rightPipelines() []Variant {
	return []Variant{
		{Name: "SET NX and PEXPIRE in a transaction", Lock: polls(expiryInTheSame(process.transaction)), Scenario: once("crash")},
		{Name: "reads two keys in a transaction", Lock: polls(nameAndLease(process.transaction))},
		{Name: "PUBLISH before DEL, in a transaction", Lock: ofTake(rings(process.transaction, publish, del))},
		{Name: "PUBLISH after DEL, in a pipeline", Lock: ofTake(rings(process.pipeline, del, publish))},
		{
			Name: "PUBLISH after DEL, in a pipeline, one process", Lock: ofTake(rings(process.pipeline, del, publish)),
			Scenario: explore.Scenario{Actors: 2, Replicas: 1},
		},
	}
}

// together sends commands at once, and gives their replies.
type together func(p process, ctx context.Context, commands ...[]any) ([]redis.Cmder, error)

func (p process) pipeline(ctx context.Context, commands ...[]any) ([]redis.Cmder, error) {
	return sent(ctx, p.client.Pipeline(), commands)
}

func (p process) transaction(ctx context.Context, commands ...[]any) ([]redis.Cmder, error) {
	return sent(ctx, p.client.TxPipeline(), commands)
}

func sent(ctx context.Context, pipe redis.Pipeliner, commands [][]any) ([]redis.Cmder, error) {
	for _, command := range commands {
		pipe.Do(ctx, command...)
	}
	return replied(ctx, commands[0], func() ([]redis.Cmder, error) { return pipe.Exec(ctx) })
}

// expiryInTheSame looks first whether the lock is free. So nobody else mends a lock that has no expiry.
func expiryInTheSame(send together) func(process) ask {
	return func(p process) ask {
		return func(ctx context.Context, owner string) (unlock, error) {
			held, err := p.number(ctx, "EXISTS", key)
			if err == nil {
				err = obtained(held == 0)
			}
			if err != nil {
				return nil, err
			}
			replies, err := send(p, ctx, []any{"SET", key, owner, "NX"}, []any{"PEXPIRE", key, p.ttl, "NX"})
			if err == nil {
				err = obtained(replies[0].Err() == nil)
			}
			return p.release(owner), err
		}
	}
}

// nameAndLease keeps a name without an expiry, and beside it a lease that expires. Who finds no lease takes the lock over from the one
// whose name it has read.
func nameAndLease(send together) func(process) ask {
	lease := under("lease")
	return func(p process) ask {
		return func(ctx context.Context, owner string) (unlock, error) {
			replies, err := send(p, ctx, []any{"EXISTS", lease}, []any{"GET", key})
			if err != nil {
				return nil, err
			}
			alive, _ := replies[0].(*redis.Cmd).Int64()
			before, _ := replies[1].(*redis.Cmd).Text() // nil: ""
			if alive > 0 {
				return nil, lock.ErrNotObtained
			}
			took, err := p.script(ctx, `if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
				redis.call('SET', KEYS[1], ARGV[2]) redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3]) return 1`,
				[]string{lease}, before, owner, p.ttl)
			if err == nil {
				err = obtained(took == 1)
			}
			return func(ctx context.Context) error {
				had, err := p.script(ctx, `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
					return redis.call('DEL', KEYS[1], KEYS[2])`, []string{lease}, owner)
				if err == nil && had == 0 {
					return lock.ErrNotOwner
				}
				return err
			}, err
		}
	}
}

func publish() []any { return []any{"PUBLISH", channel, "free"} }

func del() []any { return []any{"DEL", key} }

// rings gives the lock back by these commands. Who waits asks when it is told, and only then.
func rings(send together, commands ...func() []any) func(process) take {
	return func(p process) take {
		return func(ctx context.Context, owner string) (*lock.Lease, error) {
			lease, err := listens(p)(ctx, owner)
			if err != nil {
				return nil, err
			}
			return lease.With(func(ctx context.Context) error {
				var all [][]any
				for _, command := range commands {
					all = append(all, command())
				}
				_, err := send(p, ctx, all...)
				return rediserr.Classify(ctx, "DEL", err)
			}), nil
		}
	}
}
