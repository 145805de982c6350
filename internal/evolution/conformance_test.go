package evolution_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/evolution"
	"lockstep/internal/lock"
)

// The strategies that have a property. Whoever is not listed must exhibit the flaw.
var (
	excludes    = []string{"v1", "v2", "v3", "v4", "v5", "v6", "local"}
	inRedis     = []string{"v1", "v2", "v3", "v4", "v5", "v6"}
	expires     = []string{"v2", "v3", "v4", "v5", "v6"}
	checksOwner = []string{"v3", "v4", "v5", "v6"}
	atomicCheck = []string{"v4", "v5", "v6"}
	reentrant   = []string{"v0", "v5", "v6"}
	renewed     = []string{"v6"}
	takesBack   = []string{"v3", "v4", "v6"} // a lock whose reply was lost
)

func (w *world) is(property []string) bool { return slices.Contains(property, w.strategy.Name) }

func TestMutualExclusion(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		const buyers = 10
		var inside atomic.Int64
		var met sync.Once
		errs := make(chan error, buyers)
		together := make(chan struct{}) // closed once two are inside
		for i := range buyers {
			go func() {
				lease, err := w.locker.Lock(t.Context(), lock.Owner(fmt.Sprint(i)))
				if err != nil {
					errs <- err
					return
				}
				if inside.Add(1) > 1 {
					met.Do(func() { close(together) })
				}
				select { // give the others every chance to come in too
				case <-together:
				case <-time.After(10 * time.Millisecond):
				}
				inside.Add(-1)
				errs <- lease.Unlock(t.Context())
			}()
		}
		for range buyers {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		select {
		case <-together:
			if w.is(excludes) {
				t.Error("two were inside at once")
			}
		default:
			if !w.is(excludes) {
				t.Error("no two were inside at once; this version's flaw is that they are")
			}
		}
		if w.exists(t) {
			t.Error("the lock is still there after everybody left")
		}
	})
}

func TestWaiterGetsTheLockAfterTheHolder(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		a := w.must(t, "a")
		got := make(chan error, 1)
		go func() {
			b, err := w.locker.Lock(t.Context(), lock.Owner("b"))
			if err == nil {
				err = b.Unlock(t.Context())
			}
			got <- err
		}()
		w.pause(t, 100*time.Millisecond) // b is waiting, or never will
		waited := len(got) == 0
		if waited != w.is(excludes) {
			t.Errorf("b waited: %v", waited)
		}
		if err := a.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-got; err != nil {
			t.Error(err)
		}
	})
}

func TestLockTimesOut(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.is(excludes) {
			return // nobody waits
		}
		w.use(func(o *lock.Options) { o.WaitTimeout = 100 * time.Millisecond })
		a := w.must(t, "a")
		if _, err := w.locker.Lock(t.Context(), lock.Owner("b")); !errors.Is(err, lock.ErrTimeout) || errors.Is(err, lock.ErrCancelled) {
			t.Errorf("Lock of a held lock: %v; want ErrTimeout", err)
		}
		if err := a.Unlock(t.Context()); err != nil {
			t.Errorf("the holder lost its lock to one who only waited: %v", err)
		}
	})
}

func TestLockIsCancelled(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.is(excludes) {
			return // nobody waits
		}
		a := w.must(t, "a")
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan error, 1)
		go func() {
			_, err := w.locker.Lock(ctx, lock.Owner("b"))
			got <- err
		}()
		w.pause(t, 50*time.Millisecond)
		cancel()
		if err := <-got; !errors.Is(err, lock.ErrCancelled) || !errors.Is(err, context.Canceled) {
			t.Errorf("Lock: %v; want ErrCancelled", err)
		}
		if err := a.Unlock(t.Context()); err != nil {
			t.Errorf("the holder lost its lock to one who only waited: %v", err)
		}
		if c := w.must(t, "c"); c.Unlock(t.Context()) != nil {
			t.Error("the lock is of no use after a cancelled wait")
		}
		if _, err := w.locker.Lock(ctx, lock.Owner("d")); !errors.Is(err, lock.ErrCancelled) {
			t.Errorf("Lock with a context that has ended: %v; want ErrCancelled", err)
		}
		if w.exists(t) {
			t.Error("a cancelled Lock left a lock behind")
		}
	})
}

func TestTryLock(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		a, err := w.locker.TryLock(t.Context(), lock.Owner("a"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := w.locker.TryLock(t.Context(), lock.Owner("b"))
		if w.is(excludes) && !errors.Is(err, lock.ErrNotObtained) {
			t.Errorf("TryLock of a held lock: %v; want ErrNotObtained", err)
		}
		if !w.is(excludes) && b == nil {
			t.Errorf("TryLock: %v; want no lock to be in the way", err)
		}
		if err := a.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if err := a.Unlock(t.Context()); !errors.Is(err, lock.ErrNotOwner) {
			t.Errorf("second Unlock: %v; want ErrNotOwner", err)
		}
		if c, err := w.locker.TryLock(t.Context(), lock.Owner("c")); err != nil || c.Unlock(t.Context()) != nil {
			t.Errorf("TryLock of a free lock: %v", err)
		}
	})
}

func TestUnlockOfALockThatIsAnothers(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.is(inRedis) {
			return // no key that could change hands
		}
		a := w.must(t, "a")
		w.expire(t)
		b := w.must(t, "b")
		err := a.Unlock(t.Context())
		if w.is(checksOwner) && !errors.Is(err, lock.ErrNotOwner) {
			t.Errorf("Unlock: %v; want ErrNotOwner", err)
		}
		if stands := w.exists(t); stands != w.is(checksOwner) {
			t.Errorf("b's lock still stands after a's Unlock: %v", stands)
		}
		if err := b.Unlock(t.Context()); w.is(checksOwner) != (err == nil) {
			t.Errorf("b's Unlock: %v", err)
		}
	})
}

func TestUnlockBetweenCheckAndDelete(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.is(inRedis) {
			return // no key that could change hands
		}
		a := w.must(t, "a")
		var b *lock.Lease
		w.faults.set(func(cmd redis.Cmder) error {
			if cmd.Name() == "del" { // just before a deletes, its lock expires and b takes it
				w.faults.set(nil, nil)
				w.expire(t)
				b = w.must(t, "b")
			}
			return nil
		}, nil)
		if err := a.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		w.faults.set(nil, nil)
		if w.is(atomicCheck) {
			if b != nil {
				t.Error("the release is not one command")
			}
			return
		}
		if b == nil || w.exists(t) {
			t.Error("a should have deleted b's lock: that is this version's flaw")
		}
	})
}

func TestUnlockAfterExpiry(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.is(inRedis) {
			return // nothing that could expire
		}
		a := w.must(t, "a")
		w.expire(t)
		if err := a.Unlock(t.Context()); !errors.Is(err, lock.ErrExpired) || errors.Is(err, lock.ErrNotOwner) {
			t.Errorf("Unlock: %v; want ErrExpired", err)
		}
	})
}

func TestUnlockWithACancelledContext(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		a, err := w.locker.Lock(ctx, lock.Owner("a"))
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := a.Unlock(ctx); err != nil || w.exists(t) {
			t.Errorf("Unlock: %v; the lock is still there: %v", err, w.exists(t))
		}
	})
}

func TestHolderThatNeverUnlocks(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.is(inRedis) || w.is(renewed) {
			return // the one dies with its process; the other's renewer does too: TestRenewalOutageLosesTheLockAtTheDeadline
		}
		w.shortExpiry()
		w.must(t, "a")
		if !w.is(expires) {
			if ttl := w.ttl(t); ttl != -1 {
				t.Errorf("the lock expires in %v; this version's flaw is that it never does", ttl)
			}
			return
		}
		b := w.must(t, "b") // as soon as a's has expired, whether a is dead or only slow
		if err := b.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestWorkLongerThanTheExpiry(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.is(expires) {
			return
		}
		w.shortExpiry()
		a := w.must(t, "a")
		short, cancel := context.WithTimeout(t.Context(), 3*w.opts.TTL)
		defer cancel()
		b, err := w.locker.Lock(short, lock.Owner("b"))
		if w.is(renewed) != errors.Is(err, lock.ErrCancelled) {
			t.Errorf("b, while a works for three expiries: %v", err)
		}
		if a.Context().Err() != nil {
			t.Errorf("a's work was cancelled: %v", context.Cause(a.Context()))
		}
		if w.is(renewed) {
			if err := a.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		} else if b == nil || b.Unlock(t.Context()) != nil {
			t.Error("b should have the lock while a works on: that is this version's flaw")
		}
	})
}

func TestNestedLock(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		outer := w.must(t, "a")
		inner, err := w.locker.TryLock(t.Context(), lock.Owner("a"))
		if !w.is(reentrant) {
			if !errors.Is(err, lock.ErrNotObtained) {
				t.Errorf("nested TryLock: %v; this version's flaw is that it waits for itself", err)
			}
			_ = outer.Unlock(t.Context())
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := inner.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := w.locker.TryLock(t.Context(), lock.Owner("b")); w.is(excludes) && !errors.Is(err, lock.ErrNotObtained) {
			t.Errorf("TryLock of b after the inner Unlock: %v; want ErrNotObtained", err)
		}
		if err := outer.Unlock(t.Context()); err != nil || w.exists(t) {
			t.Errorf("outer Unlock: %v; the lock is still there: %v", err, w.exists(t))
		}
	})
}

func TestLostReplyOfLock(t *testing.T) {
	for name, lose := range map[string]func(*faults){"reply": (*faults).loseReply, "command": (*faults).loseCommand} {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, func(t *testing.T, w *world) {
				if !w.is(inRedis) {
					return // no reply to lose
				}
				lose(w.faults)
				if _, err := w.locker.Lock(t.Context(), lock.Owner("a")); !errors.Is(err, lock.ErrOutcomeUnknown) {
					t.Errorf("Lock: %v; want ErrOutcomeUnknown", err)
				}
				behind := w.exists(t)
				if want := name == "reply" && !w.is(takesBack); behind != want {
					t.Errorf("a lock is left behind: %v; want %v", behind, want)
				}
				if behind && w.is(expires) != (w.ttl(t) > 0) {
					t.Errorf("what is left behind expires in %v", w.ttl(t))
				}
			})
		})
	}
}

func TestLostReplyOfNestedLock(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.is(inRedis) || !w.is(reentrant) {
			return
		}
		outer := w.must(t, "a")
		w.faults.loseReply()
		if _, err := w.locker.Lock(t.Context(), lock.Owner("a")); !errors.Is(err, lock.ErrOutcomeUnknown) {
			t.Errorf("nested Lock: %v; want ErrOutcomeUnknown", err)
		}
		if !w.exists(t) {
			t.Error("the outer call's lock is gone")
		}
		if err := outer.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if behind := w.exists(t); behind == w.is(takesBack) {
			t.Errorf("counted twice, the lock is left behind: %v", behind)
		}
		if w.exists(t) && w.ttl(t) < 0 {
			t.Error("and never expires")
		}
	})
}

func TestLostReplyOfUnlock(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.is(inRedis) {
			return // no reply to lose
		}
		a := w.must(t, "a")
		w.faults.loseReply()
		if err := a.Unlock(t.Context()); !errors.Is(err, lock.ErrOutcomeUnknown) {
			t.Errorf("Unlock: %v; want ErrOutcomeUnknown", err)
		}
	})
}

func TestRedisGone(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.is(inRedis) {
			return // does not care
		}
		a := w.must(t, "a")
		refused := &net.OpError{Op: "dial", Err: errFault}
		w.faults.set(func(redis.Cmder) error { return refused }, nil)
		sent := w.faults.seen()
		for name, try := range map[string]func(context.Context, string) (*lock.Lease, error){"Lock": w.locker.Lock, "TryLock": w.locker.TryLock} {
			if _, err := try(t.Context(), lock.Owner("b")); !errors.Is(err, lock.ErrUnavailable) || !errors.Is(err, errFault) {
				t.Errorf("%s: %v; want ErrUnavailable, with its reason", name, err)
			}
		}
		if n := w.faults.seen() - sent; n > 2 {
			t.Errorf("%d commands for two tries: Redis being gone is not a lock being held", n)
		}
		if err := a.Unlock(t.Context()); !errors.Is(err, lock.ErrUnavailable) {
			t.Errorf("Unlock: %v; want ErrUnavailable", err)
		}
		w.faults.set(nil, nil)
		if err := a.Unlock(t.Context()); err != nil || w.exists(t) {
			t.Errorf("Unlock once Redis is back: %v; the lock is still there: %v", err, w.exists(t))
		}
	})
}

func TestLockHeldInAnotherWay(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.is(inRedis) {
			return
		}
		for _, hold := range [][]any{{"SET", lock.Key, "other", "NX", "PX", 60_000}, {"HSET", lock.Key, "other", 1}} {
			if err := w.outside.Do(t.Context(), hold...).Err(); err != nil {
				t.Fatal(err)
			}
			if lease, err := w.locker.TryLock(t.Context(), lock.Owner("a")); !errors.Is(err, lock.ErrNotObtained) {
				t.Errorf("TryLock, after %v: %v; want ErrNotObtained", hold, err)
				if err == nil {
					_ = lease.Unlock(t.Context())
				}
			}
			w.expire(t)
		}
	})
}

func TestLosingTheLockCancelsTheWork(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.is(renewed) {
			return // cannot know
		}
		w.shortExpiry()
		a := w.must(t, "a")
		inner := w.must(t, "a")
		w.expire(t)
		for name, lease := range map[string]*lock.Lease{"outer": a, "inner": inner} {
			select {
			case <-lease.Context().Done():
			case <-time.After(10 * w.opts.TTL):
				t.Fatalf("the %s call was never told", name)
			}
			if cause := context.Cause(lease.Context()); !errors.Is(cause, lock.ErrLost) {
				t.Errorf("the %s call's work was cancelled with %v; want ErrLost", name, cause)
			}
		}
		for range 2 {
			if err := inner.Unlock(t.Context()); err == nil {
				t.Error("Unlock of a lost lock says nothing")
			}
		}
		if err := a.Unlock(t.Context()); !errors.Is(err, lock.ErrExpired) {
			t.Errorf("Unlock of a lost lock: %v; want ErrExpired", err)
		}
	})
}

func TestRetriedUnlockOfANestedLock(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.is(inRedis) || !w.is(reentrant) {
			return
		}
		outer, inner := w.must(t, "a"), w.must(t, "a")
		w.faults.set(func(redis.Cmder) error { return &net.OpError{Op: "dial", Err: errFault} }, nil)
		if err := inner.Unlock(t.Context()); !errors.Is(err, lock.ErrUnavailable) {
			t.Errorf("Unlock: %v; want ErrUnavailable", err)
		}
		w.faults.set(nil, nil)
		if err := inner.Unlock(t.Context()); err != nil || !w.exists(t) {
			t.Errorf("Unlock, tried again: %v; the outer call's lock stands: %v", err, w.exists(t))
		}
		if err := outer.Unlock(t.Context()); err != nil || w.exists(t) {
			t.Errorf("outer Unlock: %v; the lock is still there: %v", err, w.exists(t))
		}
	})
}

func TestNestedLockAfterTheLockWasLost(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.is(renewed) {
			return // cannot know
		}
		outer := w.must(t, "a")
		w.expire(t)
		inner := w.must(t, "a") // takes it anew, which does not bring the time in between back
		for name, lease := range map[string]*lock.Lease{"outer": outer, "inner": inner} {
			if cause := context.Cause(lease.Context()); !errors.Is(cause, lock.ErrLost) {
				t.Errorf("the %s call works on: %v; want ErrLost", name, cause)
			}
		}
		if err := inner.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if err := outer.Unlock(t.Context()); !errors.Is(err, lock.ErrExpired) {
			t.Errorf("outer Unlock: %v; want ErrExpired", err)
		}
	})
}

func TestRenewalSurvivesAShortOutage(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.is(renewed) {
			return
		}
		w.shortExpiry()
		a := w.must(t, "a")
		var failed atomic.Int64
		w.faults.set(func(redis.Cmder) error {
			if failed.Add(1) > 5 {
				return nil
			}
			return &net.OpError{Op: "dial", Err: errFault}
		}, nil)
		w.pause(t, 2*w.opts.TTL)
		if a.Context().Err() != nil || failed.Load() <= 5 {
			t.Errorf("after %d commands, the first five failed: %v", failed.Load(), context.Cause(a.Context()))
		}
		if err := a.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestRenewalOutageLosesTheLockAtTheDeadline(t *testing.T) {
	strategy, err := evolution.Find("v6")
	if err != nil {
		t.Fatal(err)
	}
	onEmbedded(t, strategy, func(t *testing.T, w *world) { // exact times are virtual
		began := w.opts.Clock.Now()
		a := w.must(t, "a")
		w.faults.set(func(redis.Cmder) error { return &net.OpError{Op: "dial", Err: errFault} }, nil)
		<-a.Context().Done()
		if cause := context.Cause(a.Context()); !errors.Is(cause, lock.ErrLost) {
			t.Errorf("the work was cancelled with %v; want ErrLost", cause)
		}
		if after := w.opts.Clock.Now().Sub(began); after != w.opts.TTL {
			t.Errorf("lost after %v; want one expiry, %v, after the acquire was sent", after, w.opts.TTL)
		}
		w.faults.set(nil, nil)
		if err := a.Unlock(t.Context()); err == nil {
			t.Error("Unlock of a lost lock says nothing")
		}
	})
}

func TestRenewalEndsWithItsHolder(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.is(renewed) {
			return
		}
		w.shortExpiry()
		outer, inner := w.must(t, "a"), w.must(t, "a")
		if err := inner.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		w.pause(t, 2*w.opts.TTL)
		if !w.exists(t) {
			t.Error("the inner Unlock ended the renewal")
		}
		if err := outer.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		sent := w.faults.seen()
		w.pause(t, w.opts.TTL)
		if n := w.faults.seen() - sent; n != 0 {
			t.Errorf("%d commands after the last Unlock", n)
		}
	})
}

func TestLocalServesInOrder(t *testing.T) {
	strategy, err := evolution.Find("local")
	if err != nil {
		t.Fatal(err)
	}
	onEmbedded(t, strategy, func(t *testing.T, w *world) {
		const waiters = 50
		holder := w.must(t, "holder")
		served := make(chan int, waiters)
		for i := range waiters {
			go func() {
				lease, err := w.locker.Lock(t.Context(), lock.Owner(fmt.Sprint(i)))
				if err != nil {
					t.Error(err)
					return
				}
				served <- i
				if err := lease.Unlock(t.Context()); err != nil {
					t.Error(err)
				}
			}()
			w.pause(t, time.Millisecond) // virtual: so that they come one after the other
		}
		if err := holder.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		for want := range waiters {
			if got := <-served; got != want {
				t.Fatalf("waiter %d was served when it was the turn of %d", got, want)
			}
		}
	})
}
