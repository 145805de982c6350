package soak

import (
	"context"
	"errors"
	"time"

	"lockstep/internal/cluster"
	"lockstep/internal/lock"
	"lockstep/internal/stage/fault"
)

const (
	shorter     = Expiry * 2 / 5 // than the lock's expiry
	longer      = 2 * Expiry
	heartbeat   = 5 * time.Second        // a replica without a sign of life for longer is forgotten, with its sales
	again       = 50 * time.Millisecond  // between two repetitions of a fault
	before      = 300 * time.Millisecond // before a Redis that hung goes on, a new run is asked for
	untilCaught = 5 * time.Second        // how long a fault waits for the command that it is about
)

var errMissed = errors.New("it hit nothing")

// whom says whom a fault hits.
type whom int

const (
	everybody whom = iota
	one            // one replica, and the others may have to wait
	oneOnly        // one replica; the others go on selling before its end
)

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
		{KillReplica, oneOnly, atOnce, func(_ context.Context, i *injection) error { return i.cluster.Do(i.Victim, "kill") }},
		{
			StopReplica, oneOnly, []time.Duration{longer, shorter, 4 * Expiry, heartbeat + time.Second},
			func(ctx context.Context, i *injection) error {
				err := errors.Join(i.cluster.Do(i.Victim, "pause"), wait(ctx, i.For))
				_ = i.cluster.Do(i.Victim, "resume") // the front may have given it up, and it may have been killed
				return err
			},
		},
		{CutReplica, oneOnly, outlasting, func(ctx context.Context, i *injection) error {
			i.proxy.Cut()
			defer i.proxy.Mend()
			return wait(ctx, i.For)
		}},
		{StallReplica, oneOnly, outlasting, func(ctx context.Context, i *injection) error {
			return i.holdOne(ctx, fault.IsWrite, fault.Hold, func() error {
				i.proxy.Hang(i.For)
				return wait(ctx, i.For)
			})
		}},
		{LateWrite, one, outlasting, func(ctx context.Context, i *injection) error {
			return i.holdOne(ctx, fault.IsWrite, fault.Hold, func() error { return wait(ctx, i.For) })
		}},
		{StolenLock, one, []time.Duration{longer}, func(ctx context.Context, i *injection) error {
			return i.holdOne(ctx, fault.IsRead, fault.HoldReply, func() error {
				return errors.Join(i.client.Del(ctx, lock.Key).Err(), wait(ctx, i.For))
			})
		}},
		{LoseReply, one, second, func(ctx context.Context, i *injection) error { return i.lose(ctx, fault.LoseReply) }},
		{LoseRequest, one, second, func(ctx context.Context, i *injection) error { return i.lose(ctx, fault.LoseRequest) }},
		{BuyersLeave, everybody, second, func(ctx context.Context, i *injection) error {
			return i.repeat(ctx, func() (int64, error) { return i.crowd.Leave(), nil })
		}},
		{HangRedis, everybody, []time.Duration{5 * time.Second}, func(ctx context.Context, i *injection) error {
			redis := i.redis.PID()
			return errors.Join(cluster.Pause(redis), wait(ctx, i.For), cluster.Resume(redis))
		}},
		{PauseRedis, everybody, []time.Duration{5 * time.Second}, func(ctx context.Context, i *injection) error {
			return errors.Join(i.client.Do(ctx, "CLIENT", "PAUSE", i.For.Milliseconds(), "ALL").Err(), wait(ctx, i.For))
		}},
		{RestartRedis, everybody, []time.Duration{500 * time.Millisecond, 2 * time.Second}, func(ctx context.Context, i *injection) error {
			return i.restart(ctx, func() error { return nil })
		}},
		{EmptyRedis, everybody, []time.Duration{500 * time.Millisecond, 2 * time.Second}, func(ctx context.Context, i *injection) error {
			return i.restart(ctx, i.redis.Clear)
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

// injection is a fault while it happens.
type injection struct {
	*world
	Injected

	proxy *fault.Proxy // before it
}

// inject waits until the shop is whole, reads the ledgers if the fault may destroy them, and injects it.
func (w *world) inject(ctx context.Context, f Fault) Injected {
	i := &injection{world: w, Injected: Injected{Fault: f, Read: time.Now()}, proxy: w.proxies[f.Replica]}
	all, err := w.settled(ctx)
	if err == nil && f.Kind.forgets() {
		i.Read = time.Now()
		err = w.look(ctx)
	}
	if i.Begin = time.Now(); err != nil {
		i.End, i.Error = i.Begin, err.Error()
		return i.Injected
	}
	if !f.Kind.forgets() {
		i.Read = i.Begin
	}
	effect := f.Kind.effect()
	if effect.whom != everybody {
		i.Victim = all[f.Replica].Name
	}
	w.tell("%s", i.Injected)
	if err := effect.do(ctx, i); err != nil {
		i.Error = err.Error()
	}
	if i.End.IsZero() {
		i.End = time.Now()
	}
	return i.Injected
}

func (i *injection) restart(ctx context.Context, meanwhile func() error) error {
	i.gone.Store(true)
	defer i.gone.Store(false)
	i.redis.Kill()
	return errors.Join(meanwhile(), wait(ctx, i.For), i.redis.Run(ctx))
}

// newRunInHang asks for a new run shortly before a hung Redis goes on. Redis then answers the selling replicas and the replica that
// changes the run together, when it has heard of no replica for longer than a heartbeat.
func newRunInHang(ctx context.Context, i *injection) error {
	pid := i.redis.PID()
	if err := errors.Join(cluster.Pause(pid), wait(ctx, i.For-before)); err != nil {
		return errors.Join(err, cluster.Resume(pid))
	}
	began := make(chan error, 1)
	go func() {
		asked, err := i.newRun(ctx)
		i.End = asked
		began <- err
	}()
	err := errors.Join(wait(ctx, before), cluster.Resume(pid))
	went := time.Now()
	if err = errors.Join(err, <-began); i.End.Before(went) {
		i.End = went
	}
	return err
}

// holdOne holds the next command that matches, or the reply to it, as long as something takes. It fails with errMissed if there is none.
func (i *injection) holdOne(ctx context.Context, matches func([]string) bool, fate fault.Fate, do func() error) error {
	trap := i.proxy.Catch(matches, fate)
	defer func() {
		trap.Release() // first: it may be caught just now
		i.proxy.Remove(trap)
	}()
	if !isCaught(ctx, trap, untilCaught) {
		return errMissed
	}
	i.Caught = 1
	return do()
}

// lose loses the next write, and then commands of the lock and writes in turn. A write comes first: a lock whose reply was lost stays until
// its expiry, and nobody writes meanwhile.
func (i *injection) lose(ctx context.Context, fate fault.Fate) error {
	if err := i.holdOne(ctx, fault.IsWrite, fate, func() error { return nil }); err != nil {
		return err
	}
	matches := []func([]string) bool{fault.IsOfLock, fault.IsWrite}
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

func isCaught(ctx context.Context, trap *fault.Trap, d time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return trap.AwaitCaught(ctx)
}

// repeat repeats something as long as the fault lasts, and counts what it hit; it fails with errMissed if it never hit anything.
func (i *injection) repeat(ctx context.Context, do func() (hits int64, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, i.For)
	defer cancel()
	for wait(ctx, again) == nil {
		hits, err := do()
		if err != nil && ctx.Err() == nil {
			return err
		}
		i.Caught += int(hits)
	}
	if i.Caught == 0 {
		return errMissed
	}
	return nil
}
