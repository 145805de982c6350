package soak

import (
	"context"
	"errors"
	"time"

	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/stage/replica"
)

const (
	again  = 50 * time.Millisecond  // between two repetitions of a fault
	before = 300 * time.Millisecond // before a Redis that hung goes on, a new run is asked for

	untilCaught = 2 * time.Second // how long a fault waits for the command that it is about
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
	victim, effect := all[fault.Replica], fault.Kind.effect()
	if effect.whom != everybody {
		injected.Victim = victim.Name
	}
	w.tell("%s", injected)
	i := &injection{world: w, Fault: fault, pid: victim.PID, proxy: w.shop.proxies[fault.Replica]}
	err = effect.do(ctx, i)
	if injected.Caught, injected.End = int(i.caught), i.end; i.end.IsZero() {
		injected.End = time.Now()
	}
	if err != nil {
		injected.Error = err.Error()
	}
	if fault.Kind.destroys() {
		w.ledgers.Forget()
	}
	return injected
}

// injection is a fault while it happens.
type injection struct {
	*world
	Fault

	pid    int               // of the replica
	proxy  *redisproxy.Proxy // before it
	caught int64             // what it has hit, where that is known at once
	end    time.Time         // of the fault, where it is not that of the injection
}

// restart kills Redis, and starts it again after something was done.
func (i *injection) restart(ctx context.Context, meanwhile func() error) error {
	i.gone.Store(true)
	defer i.gone.Store(false)
	i.shop.redis.Kill()
	return errors.Join(meanwhile(), wait(ctx, i.For), i.shop.redis.Run(ctx))
}

// newRunInHang asks for a new run shortly before a hung Redis goes on. Redis then answers the selling replicas and the replica that
// changes the run together, when it has heard of no replica for longer than a heartbeat.
func newRunInHang(ctx context.Context, i *injection) error {
	pid := i.shop.redis.PID()
	if err := errors.Join(replica.Stop(pid), wait(ctx, i.For-before)); err != nil {
		return errors.Join(err, replica.GoOn(pid))
	}
	began := make(chan error, 1)
	go func() {
		asked, err := i.shop.newRun(ctx)
		i.end = asked
		began <- err
	}()
	err := errors.Join(wait(ctx, before), replica.GoOn(pid))
	went := time.Now()
	if err = errors.Join(err, <-began); i.end.Before(went) {
		i.end = went
	}
	return err
}

// holdOne holds the next command that matches, or the reply to it, as long as something takes. It fails with errMissed if there is none.
func (i *injection) holdOne(ctx context.Context, matches func([]string) bool, fate redisproxy.Fate, do func() error) error {
	trap := i.proxy.Catch(matches, fate)
	defer func() {
		trap.Release() // first: it may be caught just now
		i.proxy.Remove(trap)
	}()
	if !isCaught(ctx, trap, untilCaught) {
		return errMissed
	}
	i.caught = 1
	return do()
}

// lose loses the next write and the next command of the lock, again and again.
func (i *injection) lose(ctx context.Context, fate redisproxy.Fate) error {
	matches := []func([]string) bool{redisproxy.IsWrite, redisproxy.IsOfLock}
	next := 0
	return i.repeat(ctx, func() (int64, error) {
		trap := i.proxy.Catch(matches[next%len(matches)], fate)
		next++
		defer i.proxy.Remove(trap)
		if isCaught(ctx, trap, again) {
			return 1, nil
		}
		return 0, nil
	})
}

// isCaught waits until a trap has caught something, and for d at most.
func isCaught(ctx context.Context, trap *redisproxy.Trap, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return trap.AwaitCaught(ctx)
}

// repeat repeats something as long as the fault lasts.
func (i *injection) repeat(ctx context.Context, do func() (hits int64, err error)) (err error) {
	i.caught, err = repeat(ctx, i.For, do)
	return err
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
