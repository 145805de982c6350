package soak

import (
	"context"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/stage/redisproxy"
)

// untilCaught is how long a fault waits for the command that it is about.
const untilCaught = 2 * time.Second

// doByProxy injects a fault on the way between a replica and Redis, and counts the commands that it has caught.
func (w *world) doByProxy(ctx context.Context, fault Fault, proxy *redisproxy.Proxy) (int64, error) {
	switch fault.Kind {
	case CutReplica:
		proxy.Cut()
		defer proxy.Mend()
		return 0, wait(ctx, fault.For)
	case LoseReply:
		return lose(ctx, proxy, redisproxy.LoseReply, fault.For)
	case LoseRequest:
		return lose(ctx, proxy, redisproxy.LoseRequest, fault.For)
	case StallReplica:
		return holdOne(ctx, proxy, redisproxy.IsWrite, redisproxy.Hold, func() error {
			proxy.Hang(fault.For)
			return wait(ctx, fault.For)
		})
	case StolenLock:
		return holdOne(ctx, proxy, redisproxy.IsRead, redisproxy.HoldReply, func() error {
			if err := w.client.Del(ctx, lock.Key).Err(); err != nil {
				return err
			}
			return wait(ctx, fault.For)
		})
	default:
		return holdOne(ctx, proxy, redisproxy.IsWrite, redisproxy.Hold, func() error { return wait(ctx, fault.For) })
	}
}

// holdOne holds the next command that matches, or the reply to it, as long as something takes. It fails with errMissed if there is none.
func holdOne(
	ctx context.Context, proxy *redisproxy.Proxy, matches func([]string) bool, fate redisproxy.Fate, do func() error,
) (caught int64, err error) {
	trap := proxy.Catch(matches, fate)
	defer func() {
		trap.Release() // first: it may be caught just now
		proxy.Remove(trap)
	}()
	if !awaitCaught(ctx, trap, untilCaught) {
		return 0, errMissed
	}
	return 1, do()
}

// lose loses the next write and the next command of the lock, again and again for a while.
func lose(ctx context.Context, proxy *redisproxy.Proxy, fate redisproxy.Fate, total time.Duration) (int64, error) {
	matches := []func([]string) bool{redisproxy.IsWrite, redisproxy.IsOfLock}
	next := 0
	return repeat(ctx, total, func() (int64, error) {
		trap := proxy.Catch(matches[next%len(matches)], fate)
		next++
		defer proxy.Remove(trap)
		if awaitCaught(ctx, trap, again) {
			return 1, nil
		}
		return 0, nil
	})
}

// awaitCaught waits until a trap has caught something, and for d at most.
func awaitCaught(ctx context.Context, trap *redisproxy.Trap, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return trap.AwaitCaught(ctx)
}
