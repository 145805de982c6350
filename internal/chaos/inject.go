//go:build unix

package chaos

import (
	"context"
	"errors"
	"syscall"
	"time"

	"lockstep/internal/lock"
)

const (
	again  = 50 * time.Millisecond  // between two repetitions of a fault
	before = 300 * time.Millisecond // before a Redis that hung goes on, a new run is asked for
)

var errMissed = errors.New("it hit nothing")

// inject waits until the shop is whole, reads the ledgers, and injects one fault.
func (w *world) inject(ctx context.Context, fault Fault) Injected {
	injected := Injected{Fault: fault, Read: time.Now()}
	all, err := w.shop.settled(ctx)
	if err == nil {
		injected.Read = time.Now()
		err = w.look(ctx)
	}
	injected.Begin, injected.End = time.Now(), time.Now()
	if err != nil {
		injected.Error = err.Error()
		return injected
	}
	victim := all[fault.Replica]
	if fault.Kind.fallsOnReplica() {
		injected.Victim = victim.Name
	}
	end, err := w.do(ctx, fault, victim.PID)
	injected.End = end
	if err != nil {
		injected.Error = err.Error()
	}
	if fault.Kind.destroys() {
		w.ledgers.Forget()
	}
	return injected
}

// do injects a fault, and gives the time of its end.
func (w *world) do(ctx context.Context, fault Fault, pid int) (end time.Time, err error) {
	switch fault.Kind {
	case KillReplica:
		err = syscall.Kill(pid, syscall.SIGKILL)
	case StopReplica:
		err = errors.Join(syscall.Kill(pid, syscall.SIGSTOP), wait(ctx, fault.For))
		_ = syscall.Kill(pid, syscall.SIGCONT) // the shop may have ended it
	case HangRedis:
		err = errors.Join(w.Redis.Signal(syscall.SIGSTOP), wait(ctx, fault.For), w.Redis.Signal(syscall.SIGCONT))
	case PauseRedis:
		err = errors.Join(w.client.Do(ctx, "CLIENT", "PAUSE", fault.For.Milliseconds(), "ALL").Err(), wait(ctx, fault.For))
	case EmptyRedis:
		w.Redis.Stop()
		err = wait(ctx, fault.For)
		w.Redis.Run()
	case OutOfMemory:
		err = errors.Join(w.client.ConfigSet(ctx, "maxmemory", "1").Err(), wait(ctx, fault.For), w.client.ConfigSet(ctx, "maxmemory", "0").Err())
	case Flush:
		err = w.client.FlushAll(ctx).Err()
	case DeleteLock:
		err = repeat(ctx, fault.For, func() (int64, error) { return w.client.Del(ctx, lock.Key).Result() })
	case CutClients:
		err = repeat(ctx, fault.For, func() (int64, error) { return w.client.Do(ctx, "CLIENT", "KILL", "TYPE", "normal").Int64() })
	case NewRun:
		return w.newRunInHang(ctx, fault)
	}
	return time.Now(), err
}

// newRunInHang asks for a new run shortly before a hung Redis goes on. Redis then answers the selling replicas and the replica that
// changes the run together, when it has heard of no replica for longer than a heartbeat.
func (w *world) newRunInHang(ctx context.Context, fault Fault) (end time.Time, err error) {
	if err := errors.Join(w.Redis.Signal(syscall.SIGSTOP), wait(ctx, fault.For-before)); err != nil {
		return time.Now(), errors.Join(err, w.Redis.Signal(syscall.SIGCONT))
	}
	began := make(chan error, 1)
	go func() {
		var asked error
		end, asked = w.shop.newRun(ctx)
		began <- asked
	}()
	err = errors.Join(wait(ctx, before), w.Redis.Signal(syscall.SIGCONT))
	went := time.Now()
	if err = errors.Join(err, <-began); end.Before(went) {
		end = went
	}
	return end, err
}

// repeat repeats something for a while; it gives errMissed if it never hit anything.
func repeat(ctx context.Context, total time.Duration, do func() (hits int64, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, total)
	defer cancel()
	hit := int64(0)
	for wait(ctx, again) == nil {
		n, err := do()
		if err != nil && ctx.Err() == nil {
			return err
		}
		hit += n
	}
	if hit == 0 {
		return errMissed
	}
	return nil
}
