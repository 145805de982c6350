package soak

import (
	"context"
	"errors"
	"os"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/stage/replica"
)

const (
	shorter   = Expiry * 2 / 5 // than the lock's expiry
	longer    = 2 * Expiry
	heartbeat = 5 * time.Second // a replica without a sign of life for longer is forgotten, with its sales
)

// whom says whom a fault hits.
type whom int

const (
	everybody whom = iota
	one            // one replica, and the others may have to wait
	oneOnly        // one replica; the others go on selling before its end
)

// effect is what a kind of faults does.
type effect struct {
	kind  Kind
	whom  whom
	lasts []time.Duration // one of these, round by round
	do    func(ctx context.Context, i *injection) error
}

// effects has them in the order of the kinds.
func effects() []effect {
	atOnce, second, outlasting := []time.Duration{0}, []time.Duration{time.Second}, []time.Duration{longer, shorter}
	return []effect{
		{KillReplica, oneOnly, atOnce, func(_ context.Context, i *injection) error { return replica.Kill(i.pid) }},
		{
			StopReplica, oneOnly, []time.Duration{longer, shorter, 4 * Expiry, heartbeat + time.Second},
			func(ctx context.Context, i *injection) error {
				err := errors.Join(replica.Stop(i.pid), wait(ctx, i.For))
				_ = replica.Resume(i.pid) // the front may have given it up, and it may have been killed
				return err
			},
		},
		{CutReplica, oneOnly, outlasting, func(ctx context.Context, i *injection) error {
			i.proxy.Cut()
			defer i.proxy.Mend()
			return wait(ctx, i.For)
		}},
		{StallReplica, oneOnly, outlasting, func(ctx context.Context, i *injection) error {
			return i.holdOne(ctx, redisproxy.IsWrite, redisproxy.Hold, func() error {
				i.proxy.Hang(i.For)
				return wait(ctx, i.For)
			})
		}},
		{LateWrite, one, outlasting, func(ctx context.Context, i *injection) error {
			return i.holdOne(ctx, redisproxy.IsWrite, redisproxy.Hold, func() error { return wait(ctx, i.For) })
		}},
		{StolenLock, one, []time.Duration{longer}, func(ctx context.Context, i *injection) error {
			return i.holdOne(ctx, redisproxy.IsRead, redisproxy.HoldReply, func() error {
				return errors.Join(i.client.Del(ctx, lock.Key).Err(), wait(ctx, i.For))
			})
		}},
		{LoseReply, one, second, func(ctx context.Context, i *injection) error { return i.lose(ctx, redisproxy.LoseReply) }},
		{LoseRequest, one, second, func(ctx context.Context, i *injection) error { return i.lose(ctx, redisproxy.LoseRequest) }},
		{BuyersLeave, everybody, second, func(ctx context.Context, i *injection) error {
			return i.repeat(ctx, func() (int64, error) { return i.crowd.Leave(), nil })
		}},
		{HangRedis, everybody, []time.Duration{5 * time.Second}, func(ctx context.Context, i *injection) error {
			redis := i.redis.PID()
			return errors.Join(replica.Stop(redis), wait(ctx, i.For), replica.Resume(redis))
		}},
		{PauseRedis, everybody, []time.Duration{5 * time.Second}, func(ctx context.Context, i *injection) error {
			return errors.Join(i.client.Do(ctx, "CLIENT", "PAUSE", i.For.Milliseconds(), "ALL").Err(), wait(ctx, i.For))
		}},
		{RestartRedis, everybody, []time.Duration{500 * time.Millisecond, 2 * time.Second}, func(ctx context.Context, i *injection) error {
			return i.restart(ctx, func() error { return nil })
		}},
		{EmptyRedis, everybody, []time.Duration{500 * time.Millisecond, 2 * time.Second}, func(ctx context.Context, i *injection) error {
			return i.restart(ctx, func() error { return errors.Join(os.RemoveAll(i.data()), os.Mkdir(i.data(), 0o700)) })
		}},
		{OutOfMemory, everybody, []time.Duration{2 * time.Second, 4 * time.Second}, func(ctx context.Context, i *injection) error {
			limit := func(bytes string) error { return i.client.ConfigSet(ctx, "maxmemory", bytes).Err() }
			return errors.Join(limit("1"), wait(ctx, i.For), limit("0"))
		}},
		{Flush, everybody, atOnce, func(ctx context.Context, i *injection) error { return i.client.FlushAll(ctx).Err() }},
		{DeleteLock, everybody, second, func(ctx context.Context, i *injection) error {
			return i.repeat(ctx, func() (int64, error) { return i.client.Del(ctx, lock.Key).Result() })
		}},
		{CutClients, everybody, second, func(ctx context.Context, i *injection) error {
			return i.repeat(ctx, func() (int64, error) { return i.client.Do(ctx, "CLIENT", "KILL", "TYPE", "normal").Int64() })
		}},
		{NewRun, everybody, []time.Duration{heartbeat + time.Second}, newRunInHang},
	}
}
