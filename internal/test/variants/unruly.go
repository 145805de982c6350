package variants

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/strategy"
)

// Unruly are locks that move behind the explorer's back, or panic. Whatever they do, they get a clear error: explore.ErrBlind,
// explore.ErrUnrepeatable, or a panic with its stack. They get no verdict, and do not bring the program down, unless a Gap says so.
func Unruly() []Variant {
	return complete(misused(), []Variant{
		{Name: "a random number of goroutines", Lock: polls(randomGoroutines)},
		{Name: "a random number of tasks", Lock: polls(randomTasks)},
		{Name: "a random number of timers", Lock: polls(randomTimers), Scenario: explore.Scenario{Work: time.Second}},
		{Name: "a random pause", Lock: polls(randomPause)},
		{Name: "a goroutine", Lock: polls(plainGoroutine)},
		{Name: "a goroutine that renews", Lock: polls(plainRenewer)},
		{
			Name: "a goroutine that panics", Lock: polls(panicsInAGoroutine),
			Gap: Gap{Today: "crash: panic: out of luck", Why: "Go cannot be kept from running it; workshop.Checker refuses it in the source"},
		},
		{Name: "a panic in a task", Lock: polls(panicsInATask)},
		{
			Name: "a real timer that ends a wait", Lock: ofTake(waitsForATimer),
			Gap: Gap{Today: "stuck in 5 steps", Why: "it is longer than any exploration; workshop.Checker refuses it in the source"},
		},
		{Name: "a goroutine that ends a wait", Lock: ofTake(waitsForAGoroutine)},
		{
			Name: "gives up by the real time", Lock: polls(untilRealTime),
			Gap: Gap{Today: "holds", Why: "the time changes nothing in an exploration; workshop.Checker refuses it in the source"},
		},
		{Name: "a ticker", Lock: ofTake(ticks)},
		{Name: "a sleep", Lock: ofTake(realSleep)},
		{Name: "a timeout of the real time", Lock: ofTake(timesOut)},
		{Name: "a short timeout of the real time", Lock: ofTake(timesOutSoon)},
		{Name: "the real time in the value", Lock: polls(realTime)},
		{Name: "a mutex around two commands", Lock: polls(mutexAround), Scenario: explore.Scenario{Replicas: 1}},
		{Name: "the order of a map", Lock: polls(mapOrder)},
		{
			Name: "memory that two processes share", Lock: sharedMemory(),
			Gap: Gap{Today: "holds", Why: "all processes of an exploration are in one, and share what New did not make"},
		},
		{Name: "a panic in Lock", Lock: polls(panicsInLock)},
		{Name: "a panic in Unlock", Lock: polls(panicsInUnlock)},
		{Name: "a panic in a timer", Lock: polls(panicsInATimer), Scenario: explore.Scenario{Work: time.Second}},
		{Name: "a panic in New", Lock: polls(panicsInNew)},
		{Name: "the end of the goroutine", Lock: polls(exitingGoroutine)},
		{Name: "asks on when its client has gone", Lock: ofTake(ignoringErrors), Scenario: once("cancel")},
		{Name: "no lease and no error", Lock: ofTake(noLease)},
	})
}

func randomGoroutines(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		for range 1 + rand.IntN(4) {
			go func() { _ = p.client.Exists(ctx, key).Err() }()
		}
		return p.release(owner), p.take(ctx, owner)
	}
}

func randomTasks(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		for range rand.IntN(4) {
			p.Clock.Go("task", func() { _ = p.client.Exists(ctx, key).Err() })
		}
		return p.release(owner), p.take(ctx, owner)
	}
}

func randomTimers(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		for range rand.IntN(4) {
			p.Clock.AfterFunc(time.Second/2, func() { _ = p.client.Exists(ctx, key).Err() })
		}
		return p.release(owner), p.take(ctx, owner)
	}
}

func randomPause(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		if err := lock.Sleep(ctx, p.Clock, time.Duration(21+rand.IntN(100))*time.Millisecond); err != nil {
			return nil, err
		}
		return p.release(owner), p.take(ctx, owner)
	}
}

func plainGoroutine(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		go func() { _ = p.client.Incr(ctx, under("asked")).Err() }()
		return p.release(owner), p.take(ctx, owner)
	}
}

// plainRenewer renews as every tutorial does.
func plainRenewer(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		if err := p.take(ctx, owner); err != nil {
			return nil, err
		}
		renewal, stop := context.WithCancel(context.Background())
		go func() {
			ticker := time.NewTicker(p.TTL / 3)
			defer ticker.Stop()
			for {
				select {
				case <-renewal.Done():
					return
				case <-ticker.C:
					p.extend(renewal, owner)
				}
			}
		}()
		return p.stopping(owner, stop), nil
	}
}

func panicsInAGoroutine(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		err := p.take(ctx, owner)
		if err == nil {
			go panic("out of luck")
		}
		return p.release(owner), err
	}
}

func panicsInATask(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		err := p.take(ctx, owner)
		if err == nil {
			p.Clock.Go("task", func() { panic("out of luck") })
		}
		return p.release(owner), err
	}
}

// waitsForATimer waits for a time that is not the explorer's.
func waitsForATimer(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		return p.waits(ctx, owner, func() error { return p.take(ctx, owner) }, func() error {
			over := make(chan struct{})
			defer time.AfterFunc(time.Hour, func() { close(over) }).Stop()
			return p.Clock.Wait(ctx, over)
		})
	}
}

func waitsForAGoroutine(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		return p.waits(ctx, owner, func() error { return p.take(ctx, owner) }, func() error {
			over := make(chan struct{})
			go func() {
				<-time.NewTimer(time.Millisecond).C
				close(over)
			}()
			return p.Clock.Wait(ctx, over)
		})
	}
}

// untilRealTime does without the lock after a minute, which an exploration never takes.
func untilRealTime(p process) ask {
	var since time.Time
	return func(ctx context.Context, owner string) (unlock, error) {
		if since.IsZero() {
			since = time.Now()
		}
		if time.Since(since) > time.Minute {
			return nothing, nil
		}
		return p.release(owner), p.take(ctx, owner)
	}
}

func ticks(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		ticker := time.NewTicker(time.Millisecond)
		defer ticker.Stop()
		for {
			if err := p.take(ctx, owner); !errors.Is(err, lock.ErrNotObtained) {
				return p.lease(ctx, p.release(owner)), err
			}
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return nil, lock.ErrCancelled
			}
		}
	}
}

func realSleep(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		for {
			if err := p.take(ctx, owner); !errors.Is(err, lock.ErrNotObtained) {
				return p.lease(ctx, p.release(owner)), err
			}
			time.Sleep(time.Millisecond)
		}
	}
}

func timesOut(p process) take { return timesOutAfter(p, time.Minute) }

func timesOutSoon(p process) take { return timesOutAfter(p, 100*time.Microsecond) }

func timesOutAfter(p process, d time.Duration) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		wait, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		err := p.until(wait, func() (bool, error) {
			err := p.take(wait, owner)
			if errors.Is(err, lock.ErrNotObtained) {
				return false, nil
			}
			return true, err
		})
		return p.lease(ctx, p.release(owner)), err
	}
}

func realTime(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		_, err := p.text(ctx, "SET", under("since"), time.Now().UnixNano())
		if err == nil {
			err = p.take(ctx, owner)
		}
		return p.release(owner), err
	}
}

// mutexAround makes another sale of its process wait where nobody sees it.
func mutexAround(p process) ask {
	var mu sync.Mutex
	return func(ctx context.Context, owner string) (unlock, error) {
		mu.Lock()
		defer mu.Unlock()
		if _, err := p.number(ctx, "EXISTS", key); err != nil {
			return nil, err
		}
		return p.release(owner), p.take(ctx, owner)
	}
}

func mapOrder(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		for name := range map[string]bool{"a": true, "b": true, "c": true, "d": true} {
			if _, err := p.number(ctx, "INCR", under(name)); err != nil {
				return nil, err
			}
		}
		return p.release(owner), p.take(ctx, owner)
	}
}

// sharedMemory keeps others out by a variable that no two real processes would share.
func sharedMemory() strategy.Strategy {
	var mu sync.Mutex // the explorer has several workers
	up := false
	set := func(to bool) (changed bool) {
		mu.Lock()
		defer mu.Unlock()
		changed = up != to
		up = to
		return changed
	}
	return polls(func(p process) ask {
		return func(ctx context.Context, owner string) (unlock, error) {
			if !set(true) {
				return setNX(p)(ctx, owner)
			}
			return func(ctx context.Context) error {
				set(false)
				return p.release(owner)(ctx)
			}, p.set(ctx, owner, "PX", p.ttl)
		}
	})
}

func panicsInLock(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		if err := p.take(ctx, owner); err != nil {
			panic(fmt.Sprint("out of luck: ", err))
		}
		return p.release(owner), nil
	}
}

func panicsInUnlock(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		return func(context.Context) error { panic("out of luck") }, p.take(ctx, owner)
	}
}

func panicsInATimer(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		p.Clock.AfterFunc(p.RetryInterval, func() { panic("out of luck") })
		return p.release(owner), p.take(ctx, owner)
	}
}

func panicsInNew(process) ask { panic("out of luck") }

func exitingGoroutine(p process) ask {
	return func(ctx context.Context, owner string) (unlock, error) {
		if err := p.take(ctx, owner); err != nil {
			runtime.Goexit()
		}
		return p.release(owner), nil
	}
}

// ignoringErrors takes every error for a lock that is held.
func ignoringErrors(p process) take {
	return func(ctx context.Context, owner string) (*lock.Lease, error) {
		for p.take(ctx, owner) != nil {
			_ = lock.Sleep(ctx, p.Clock, p.RetryInterval)
		}
		return p.lease(ctx, p.release(owner)), nil
	}
}

func noLease(process) take {
	return func(context.Context, string) (*lock.Lease, error) { return nil, nil } //nolint:nilnil // that is the mistake
}
