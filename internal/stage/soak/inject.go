package soak

import (
	"context"
	"errors"
	"os"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/stage/replica"
)

const (
	again  = 50 * time.Millisecond  // between two repetitions of a fault
	before = 300 * time.Millisecond // before a Redis that hung goes on, a new run is asked for
)

var errMissed = errors.New("it hit nothing")

// inject waits until the shop is whole, reads the ledgers if the fault may destroy them, and injects it.
func (w *world) inject(ctx context.Context, fault Fault) Injected {
	injected := Injected{Fault: fault, Read: time.Now()}
	all, err := w.shop.settled(ctx)
	if err == nil && fault.Kind.forgets() {
		injected.Read = time.Now()
		err = w.look(ctx)
	}
	injected.Begin = time.Now()
	injected.End = injected.Begin
	if err != nil {
		injected.Error = err.Error()
		return injected
	}
	if !fault.Kind.forgets() {
		injected.Read = injected.Begin
	}
	victim := all[fault.Replica]
	if fault.Kind.hasVictim() {
		injected.Victim = victim.Name
	}
	w.tell("%s", injected)
	caught, end, err := w.do(ctx, fault, victim.PID)
	injected.Caught, injected.End = int(caught), end
	if err != nil {
		injected.Error = err.Error()
	}
	if fault.Kind.destroys() {
		w.ledgers.Forget()
	}
	return injected
}

// do injects a fault, and gives the time of its end, and what it has hit where that is known at once.
func (w *world) do(ctx context.Context, fault Fault, pid int) (caught int64, end time.Time, err error) {
	switch fault.Kind {
	case CutReplica, StallReplica, LateWrite, StolenLock, LoseReply, LoseRequest:
		caught, err = w.doByProxy(ctx, fault, w.shop.proxies[fault.Replica])
	case BuyersLeave:
		caught, err = repeat(ctx, fault.For, func() (int64, error) { return w.crowd.Leave(), nil })
	case DeleteLock:
		caught, err = repeat(ctx, fault.For, func() (int64, error) { return w.client.Del(ctx, lock.Key).Result() })
	case CutClients:
		caught, err = repeat(ctx, fault.For, func() (int64, error) { return w.client.Do(ctx, "CLIENT", "KILL", "TYPE", "normal").Int64() })
	case NewRun:
		end, err = w.newRunInHang(ctx, fault)
		return 0, end, err
	default:
		err = w.doToProcess(ctx, fault, pid)
	}
	return caught, time.Now(), err
}

// doToProcess injects a fault of a replica's process, or of Redis as a whole.
func (w *world) doToProcess(ctx context.Context, fault Fault, pid int) (err error) {
	redis := w.shop.redis
	switch fault.Kind {
	case KillReplica:
		err = replica.Kill(pid)
	case StopReplica:
		err = errors.Join(replica.Stop(pid), wait(ctx, fault.For))
		_ = replica.GoOn(pid) // the front may have given it up, and it may have been killed
	case HangRedis:
		err = errors.Join(replica.Stop(redis.PID()), wait(ctx, fault.For), replica.GoOn(redis.PID()))
	case PauseRedis:
		err = errors.Join(w.client.Do(ctx, "CLIENT", "PAUSE", fault.For.Milliseconds(), "ALL").Err(), wait(ctx, fault.For))
	case RestartRedis, EmptyRedis:
		w.gone.Store(true)
		defer w.gone.Store(false)
		redis.Kill()
		if fault.Kind == EmptyRedis {
			err = errors.Join(os.RemoveAll(w.shop.data()), os.Mkdir(w.shop.data(), 0o700))
		}
		err = errors.Join(err, wait(ctx, fault.For), redis.Run(ctx))
	case OutOfMemory:
		err = errors.Join(w.client.ConfigSet(ctx, "maxmemory", "1").Err(), wait(ctx, fault.For), w.client.ConfigSet(ctx, "maxmemory", "0").Err())
	case Flush:
		err = w.client.FlushAll(ctx).Err()
	}
	return err
}

// newRunInHang asks for a new run shortly before a hung Redis goes on. Redis then answers the selling replicas and the replica that
// changes the run together, when it has heard of no replica for longer than a heartbeat.
func (w *world) newRunInHang(ctx context.Context, fault Fault) (end time.Time, err error) {
	pid := w.shop.redis.PID()
	if err := errors.Join(replica.Stop(pid), wait(ctx, fault.For-before)); err != nil {
		return time.Now(), errors.Join(err, replica.GoOn(pid))
	}
	began := make(chan error, 1)
	go func() {
		var asked error
		end, asked = w.shop.newRun(ctx)
		began <- asked
	}()
	err = errors.Join(wait(ctx, before), replica.GoOn(pid))
	went := time.Now()
	if err = errors.Join(err, <-began); end.Before(went) {
		end = went
	}
	return end, err
}

// repeat repeats something for a while, and gives what it hit; it fails with errMissed if it never hit anything.
func repeat(ctx context.Context, total time.Duration, do func() (hits int64, err error)) (hit int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, total)
	defer cancel()
	for wait(ctx, again) == nil {
		n, err := do()
		if err != nil && ctx.Err() == nil {
			return hit, err
		}
		hit += n
	}
	if hit == 0 {
		return 0, errMissed
	}
	return hit, nil
}
