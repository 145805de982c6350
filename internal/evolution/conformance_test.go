package evolution_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// Conformance tests: each strategy must do what its row of the table promises. A strategy that does not promise it must show the flaw.

// hasMutualExclusion reports whether only one sale can be in the critical section.
func (w *world) hasMutualExclusion() bool { return w.strategy.Scope != strategy.Nobody }

// isInRedis reports whether the lock is a key in Redis, which can expire or be deleted.
func (w *world) isInRedis() bool { return w.strategy.Scope == strategy.Everybody }

func TestLockExcludesOthers(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		const buyers = 10
		var inside atomic.Int64
		var met sync.Once
		errs := make(chan error, buyers)
		together := make(chan struct{}) // closed once two are in the critical section
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
				select { // gives the others time to enter
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
			if w.hasMutualExclusion() {
				t.Error("two were inside at once")
			}
		default:
			if !w.hasMutualExclusion() {
				t.Error("no two were inside at once; this version's flaw is that they are")
			}
		}
		if !w.closeAndCheckFree(t) {
			t.Error("the lock is still there after everybody left")
		}
	})
}

func TestWaiterGetsLockAfterUnlock(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		a := w.mustLock(t, "a")
		got := make(chan error, 1)
		go func() {
			b, err := w.locker.Lock(t.Context(), lock.Owner("b"))
			if err == nil {
				err = b.Unlock(t.Context())
			}
			got <- err
		}()
		w.pause(t, 100*time.Millisecond) // b waits by now, if it ever does
		waited := len(got) == 0
		if waited != w.hasMutualExclusion() {
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

func TestLockReturnsErrTimeout(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.hasMutualExclusion() {
			return // no waiting
		}
		if err := w.unlock(t, w.mustLock(t, "first")); err != nil { // opens the connections, before the time is short
			t.Error(err)
		}
		w.rebuild(func(p *strategy.Parts) { p.WaitTimeout = 500 * time.Millisecond })
		a := w.mustLock(t, "a")
		if _, err := w.locker.Lock(t.Context(), lock.Owner("b")); !errors.Is(err, lock.ErrTimeout) || errors.Is(err, lock.ErrCancelled) {
			t.Errorf("Lock of a held lock: %v; want ErrTimeout", err)
		}
		if err := a.Unlock(t.Context()); err != nil {
			t.Errorf("the holder lost its lock to one who only waited: %v", err)
		}
	})
}

func TestLockReturnsErrCancelled(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.hasMutualExclusion() {
			return // no waiting
		}
		a := w.mustLock(t, "a")
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
		if c := w.mustLock(t, "c"); c.Unlock(t.Context()) != nil {
			t.Error("the lock is of no use after a cancelled wait")
		}
		if _, err := w.locker.Lock(ctx, lock.Owner("d")); !errors.Is(err, lock.ErrCancelled) {
			t.Errorf("Lock with a context that has ended: %v; want ErrCancelled", err)
		}
		if !w.closeAndCheckFree(t) {
			t.Error("a cancelled Lock left a lock behind")
		}
	})
}

func TestTryLockReturnsErrNotObtained(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		a, err := w.locker.TryLock(t.Context(), lock.Owner("a"))
		if err != nil {
			t.Fatal(err)
		}
		b, err := w.locker.TryLock(t.Context(), lock.Owner("b"))
		if w.hasMutualExclusion() && !errors.Is(err, lock.ErrNotObtained) {
			t.Errorf("TryLock of a held lock: %v; want ErrNotObtained", err)
		}
		if !w.hasMutualExclusion() && b == nil {
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

func TestUnlockKeepsLockOfNextHolder(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.isInRedis() {
			return // no key
		}
		a := w.mustLock(t, "a")
		w.expire(t)
		b, err := w.otherProcess().Lock(t.Context(), lock.Owner("b"))
		if err != nil {
			t.Fatal(err)
		}
		err = w.unlock(t, a)
		if w.strategy.Capabilities.ChecksOwner && !errors.Is(err, lock.ErrNotOwner) {
			t.Errorf("Unlock: %v; want ErrNotOwner", err)
		}
		if stands := w.exists(t); stands != w.strategy.Capabilities.ChecksOwner {
			t.Errorf("b's lock still stands after a's Unlock: %v", stands)
		}
		if err := w.unlock(t, b); w.strategy.Capabilities.ChecksOwner != (err == nil) {
			t.Errorf("b's Unlock: %v", err)
		}
	})
}

func TestUnlockAfterExpiryReturnsErrExpired(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.isInRedis() {
			return // no expiry
		}
		a := w.mustLock(t, "a")
		w.expire(t)
		if err := w.unlock(t, a); w.strategy.Capabilities.Terse {
			if !errors.Is(err, lock.ErrNotOwner) {
				t.Errorf("Unlock: %v; want ErrNotOwner", err)
			}
		} else if !errors.Is(err, lock.ErrExpired) || errors.Is(err, lock.ErrNotOwner) {
			t.Errorf("Unlock: %v; want ErrExpired", err)
		} else if !strings.Contains(err.Error(), "it expired, or another deleted it") { // a lock cannot distinguish the two
			t.Errorf("Unlock of a deleted lock says %q", err)
		}
	})
}

func TestUnlockIgnoresCancelledContext(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ctx, cancel := context.WithCancel(t.Context())
		a, err := w.locker.Lock(ctx, lock.Owner("a"))
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := a.Unlock(ctx); err != nil || !w.closeAndCheckFree(t) {
			t.Errorf("Unlock: %v; the lock is still there: %v", err, w.exists(t))
		}
	})
}

func TestNestedLockIsReentrant(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		outer := w.mustLock(t, "a")
		inner, err := w.locker.TryLock(t.Context(), lock.Owner("a"))
		if !w.strategy.Capabilities.Reentrant {
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
		if _, err := w.locker.TryLock(t.Context(), lock.Owner("b")); w.hasMutualExclusion() && !errors.Is(err, lock.ErrNotObtained) {
			t.Errorf("TryLock of b after the inner Unlock: %v; want ErrNotObtained", err)
		}
		if err := outer.Unlock(t.Context()); err != nil || !w.closeAndCheckFree(t) {
			t.Errorf("outer Unlock: %v; the lock is still there: %v", err, w.exists(t))
		}
	})
}

func TestTryLockRespectsLockOfOtherType(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.isInRedis() {
			return
		}
		for _, hold := range [][]any{{"SET", lock.Key, "other", "NX", "PX", 60_000}, {"HSET", lock.Key, "other", 1}} {
			for _, keeper := range w.lockServers {
				if err := keeper.Do(t.Context(), hold...).Err(); err != nil {
					t.Fatal(err)
				}
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

// TryLock sends no command after its context has ended.
func TestTryLockReturnsErrCancelled(t *testing.T) {
	eachInVirtualTime(t, func(t *testing.T, w *world) {
		if w.strategy.Scope != strategy.Everybody {
			return // sends no commands
		}
		w.sell(t)
		ended, end := context.WithCancel(t.Context())
		end()
		if _, err := w.locker.TryLock(ended, lock.Owner("b")); !errors.Is(err, lock.ErrCancelled) {
			t.Errorf("TryLock: %v; want ErrCancelled", err)
		}
	})
}
