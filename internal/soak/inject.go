package soak

import (
	"context"
	"errors"
	"time"

	"lockstep/internal/cluster"
	"lockstep/internal/fault"
)

const (
	repeatInterval = 50 * time.Millisecond  // pause between two repetitions of a repeated fault
	resumeLead     = 300 * time.Millisecond // time from the request for a new run until a hung Redis resumes
	catchTimeout   = 5 * time.Second        // time limit for a trap to catch a command
)

// errNothingHit is returned for a fault that had no effect.
var errNothingHit = errors.New("the fault hit nothing")

// inject waits until all replicas are up, reads the ledgers if the fault may lose orders, and injects the fault.
func (b *testbed) inject(ctx context.Context, planned Fault) Injected {
	f := Injected{Fault: planned, LastReadAt: time.Now()}
	all, err := b.awaitReplicas(ctx)
	effect := planned.Kind.effect()
	if err == nil && effect.losesOrders {
		f.LastReadAt = time.Now()
		err = b.readLedgers(ctx)
	}
	if f.Begin = time.Now(); err != nil {
		f.End, f.Error = f.Begin, err.Error()
		return f
	}
	if !effect.losesOrders {
		f.LastReadAt = f.Begin
	}
	if effect.scope != wholeShop {
		f.Victim = all[f.Replica].Name
	}
	b.log("%s", f)
	if err := effect.inject(ctx, b, &f); err != nil {
		f.Error = err.Error()
	}
	if f.End.IsZero() {
		f.End = time.Now()
	}
	return f
}

// restartRedis kills Redis, calls whileDown, and starts Redis again after outage.
func (b *testbed) restartRedis(ctx context.Context, outage time.Duration, whileDown func() error) error {
	b.redisIsDown.Store(true)
	defer b.redisIsDown.Store(false)
	b.redisServer.Kill()
	return errors.Join(whileDown(), sleep(ctx, outage), b.redisServer.Run(ctx))
}

// startRunDuringHang requests a new run shortly before a suspended Redis resumes. Redis then answers the replicas that sell and the replica
// that changes the run at the same time, after all heartbeats have expired.
func startRunDuringHang(ctx context.Context, b *testbed, f *Injected) error {
	pid := b.redisServer.PID()
	if err := errors.Join(cluster.Pause(pid), sleep(ctx, f.Duration-resumeLead)); err != nil {
		return errors.Join(err, cluster.Resume(pid))
	}
	started := make(chan error, 1)
	go func() {
		requested, err := b.startRun(ctx)
		f.End = requested
		started <- err
	}()
	err := errors.Join(sleep(ctx, resumeLead), cluster.Resume(pid))
	resumed := time.Now()
	if err = errors.Join(err, <-started); f.End.Before(resumed) {
		f.End = resumed
	}
	return err
}

// holdOne holds the next command that matches, or its reply, while do runs. It fails with errNothingHit if no command matches in time.
func (b *testbed) holdOne(ctx context.Context, f *Injected, matches func([]string) bool, action fault.Action, do func() error) error {
	proxy := b.proxies[f.Replica]
	trap := proxy.Catch(matches, action)
	defer func() {
		trap.Release() // before Remove, because the trap may have caught a command since the timeout
		proxy.Remove(trap)
	}()
	if !isCaught(ctx, trap, catchTimeout) {
		return errNothingHit
	}
	f.TargetsHit = 1
	return do()
}

// loseCommands loses the next write, and then commands on the lock and writes in turn. The first is a write: if the reply to a command that
// takes the lock were lost first, the lock would stay until its expiry, and no sale would write until then.
func (b *testbed) loseCommands(ctx context.Context, f *Injected, action fault.Action) error {
	if err := b.holdOne(ctx, f, fault.IsWrite, action, func() error { return nil }); err != nil {
		return err
	}
	matches := []func([]string) bool{fault.NamesLockKey, fault.IsWrite}
	proxy, next := b.proxies[f.Replica], 0
	return f.repeat(ctx, func() (int64, error) {
		trap := proxy.Catch(matches[next%len(matches)], action)
		next++
		defer proxy.Remove(trap)
		if isCaught(ctx, trap, repeatInterval) {
			return 1, nil
		}
		return 0, nil
	})
}

// isCaught reports whether trap catches a command within d.
func isCaught(ctx context.Context, trap *fault.Trap, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return trap.AwaitCaught(ctx)
}

// repeat calls do repeatedly while the fault lasts, and adds the targets hit to f.TargetsHit. It fails with errNothingHit if there were
// none.
func (f *Injected) repeat(ctx context.Context, do func() (hits int64, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, f.Duration)
	defer cancel()
	for sleep(ctx, repeatInterval) == nil {
		hits, err := do()
		if err != nil && ctx.Err() == nil {
			return err
		}
		f.TargetsHit += int(hits)
	}
	if f.TargetsHit == 0 {
		return errNothingHit
	}
	return nil
}
