package evolution_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// Tests of lock caching: a process keeps the lock until another process asks for it.

// eachCached runs a test for every lock with caching, in virtual time.
func eachCached(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	eachInVirtualTime(t, func(t *testing.T, w *world) {
		if w.strategy.Capabilities.Cached {
			test(t, w)
		}
	})
}

// sell locks and unlocks, and returns the number of commands that this took.
func (w *world) sell(t *testing.T) int {
	t.Helper()
	before := w.faults.seen()
	if err := w.mustLock(t, "buyer").Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	return w.faults.seen() - before
}

// lockInBackground locks and unlocks in another goroutine. When that is done, it sends the time that Lock waited.
func lockInBackground(t *testing.T, locker lock.Locker) <-chan time.Duration {
	t.Helper()
	waited := make(chan time.Duration, 1)
	began := time.Now()
	go func() {
		lease, err := locker.Lock(t.Context(), lock.Owner("other"))
		took := time.Since(began)
		if err == nil {
			err = lease.Unlock(t.Context())
		}
		if err != nil {
			t.Error(err)
		}
		waited <- took
	}()
	synctest.Wait()
	return waited
}

// A single buyer costs a cached lock less than a command for ten sales, and any other lock at least two commands a sale.
func TestCachedLockSavesCommands(t *testing.T) {
	eachInVirtualTime(t, func(t *testing.T, w *world) {
		const sales = 200
		w.rebuild(func(p *strategy.Parts) { p.Notifier = w.notifier.Notifier }) // as in the service, notified of its own subscriptions
		for range sales {
			if err := w.mustLock(t, "buyer").Unlock(t.Context()); err != nil {
				t.Error(err)
			}
			w.pause(t, time.Millisecond)
		}
		asked := w.faults.seen() / len(w.lockServers)
		t.Logf("%d commands for %d sales", asked, sales)
		if few := asked <= sales/10; few != w.strategy.Capabilities.Cached || !few && asked < 2*sales {
			t.Errorf("%d commands for %d sales; a lock that is kept costs less than one for ten, any other two for each", asked, sales)
		}
	})
}

// TryLock does not wait in the queue. But it makes the other process give the lock back, so that the next attempt succeeds.
func TestTryLockMakesProcessGiveBackCachedLock(t *testing.T) {
	eachCached(t, func(t *testing.T, w *world) {
		other := w.otherProcess()
		for _, used := range []bool{false, true} {
			held := w.mustLock(t, "a")
			unlock := func() {
				if err := held.Unlock(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if !used {
				unlock()
			}
			if _, err := other.TryLock(t.Context(), lock.Owner("b")); !errors.Is(err, lock.ErrNotObtained) {
				t.Errorf("in use: %t; TryLock of another process's lock: %v", used, err)
			}
			if used {
				unlock()
			}
			synctest.Wait()
			if w.exists(t) {
				t.Errorf("in use: %t; the keeper was asked, and has the lock still", used)
			}
		}
	})
}

func TestTwoProcessesGetCachedLockAtOnce(t *testing.T) {
	eachCached(t, func(t *testing.T, w *world) {
		for _, used := range []time.Duration{0, time.Second} {
			held := w.mustLock(t, "a")
			if used == 0 {
				if err := held.Unlock(t.Context()); err != nil {
					t.Error(err)
				}
			}
			one, two := lockInBackground(t, w.newProcess("one")), lockInBackground(t, w.newProcess("two"))
			if used > 0 {
				w.pause(t, used)
				if err := held.Unlock(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if first, second := <-one, <-two; first != used || second != used {
				t.Errorf("two other processes waited for %v and %v; want %v", first, second, used)
			}
		}
	})
}

// The message that asks for the lock is lost while a sale holds it. The process keeps the lock until it is asked again.
func TestLostRequestForCachedLockIsRepeated(t *testing.T) {
	eachCached(t, func(t *testing.T, w *world) {
		held := w.mustLock(t, "a")
		w.notifier.setDropping(true)
		waiting := lockInBackground(t, w.newProcessWith("other", w.notifiers.open()))
		w.notifier.setDropping(false)
		if err := held.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if waited := <-waiting; waited > w.parts.TTL/4 || waited == 0 || w.notifier.countDropped() == 0 {
			t.Errorf("the other process waited for %v, and %d messages were lost; want a quarter of %v",
				waited, w.notifier.countDropped(), w.parts.TTL)
		}
	})
}

// A process that is dead or paused does not delay others for longer than an expiry and a quarter. When it is back, it does not use the lock
// that it had cached.
func TestCachedLockOfUnreachableProcessExpires(t *testing.T) {
	eachCached(t, func(t *testing.T, w *world) {
		w.sell(t)
		w.notifier.setDropping(true)
		waited := <-lockInBackground(t, w.newProcessWith("other", w.notifiers.open()))
		if waited < w.parts.TTL/2 || waited > w.parts.TTL*5/4 || w.notifier.countDropped() == 0 {
			t.Errorf("the other process waited for %v; want an expiry of %v and a quarter of that at most", waited, w.parts.TTL)
		}
		if asked := w.sell(t); asked == 0 {
			t.Error("the keeper still takes the lock for its own")
		}
	})
}

// A notifier sends an empty message when it may have missed one.
func TestCachedLockIsGivenBackAfterMissedMessage(t *testing.T) {
	eachCached(t, func(t *testing.T, w *world) {
		wanted := "{" + lock.Key + "}:wanted:" + lock.Owner(w.parts.Process)
		w.sell(t)
		w.notifier.notify(wanted, "")
		if synctest.Wait(); w.exists(t) {
			t.Error("nobody uses the lock, and a message may have been missed: the keeper has it still")
		}
		held := w.mustLock(t, "a")
		w.notifier.notify(wanted, "")
		if synctest.Wait(); !w.exists(t) {
			t.Error("a message may have been missed: the lock is gone while a sale has it")
		}
		if err := held.Unlock(t.Context()); err != nil || w.exists(t) {
			t.Errorf("Unlock after a message may have been missed: %v; the lock is still there: %t", err, w.exists(t))
		}
		w.sell(t)
		if w.sell(t) > 0 {
			t.Error("it is not kept any more")
		}
	})
}

func TestIdleCachedLockIsNotRenewed(t *testing.T) {
	eachCached(t, func(t *testing.T, w *world) {
		w.sell(t)
		w.pause(t, w.parts.TTL*4/10)
		if left := w.ttl(t); left != w.parts.TTL*6/10 {
			t.Errorf("an idle lock expires in %v; want it not to be renewed", left)
		}
		held := w.mustLock(t, "a") // from the cache
		w.pause(t, w.parts.TTL)
		if left := w.ttl(t); left < w.parts.TTL/2 || held.Context().Err() != nil {
			t.Errorf("used again, the lock expires in %v; want it to be renewed", left)
		}
		if err := held.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if asked := w.sell(t); asked > 0 {
			t.Errorf("%d commands for a lock renewed just before", asked)
		}
		w.pause(t, w.parts.TTL/2)
		if asked := w.sell(t); asked != 2 {
			t.Errorf("%d commands for a lock with less than half of its expiry; want it to be given back, and asked for again", asked)
		}
		if left := w.ttl(t); left != w.parts.TTL {
			t.Errorf("asked for again, it expires in %v", left)
		}
	})
}

func TestCachedLockAsksForNewTokens(t *testing.T) {
	eachCached(t, func(t *testing.T, w *world) {
		w.rebuild(func(p *strategy.Parts) { p.HandOffLimit = 2 }) // Redis gives three tokens at once
		for i, want := range []int{1, 0, 0, 2, 0, 0, 2} {         // 1: locks; 2: also releases the cached lock
			if asked := w.sell(t); asked != want {
				t.Errorf("sale %d took %d commands; want %d, for three tokens at once", i, asked, want)
			}
		}
	})
}

func TestCloseGivesBackCachedLock(t *testing.T) {
	eachCached(t, func(t *testing.T, w *world) {
		closer := w.locker.(lock.Closer)
		if err := closer.Close(t.Context()); err != nil {
			t.Errorf("Close before the first sale: %v", err)
		}
		for range 3 {
			w.sell(t)
			if w.sell(t) > 0 || !w.exists(t) {
				t.Error("the lock is not kept")
			}
			if err := closer.Close(t.Context()); err != nil || w.exists(t) {
				t.Errorf("Close: %v; the lock is still there: %t", err, w.exists(t))
			}
			before := w.faults.seen()
			if err := closer.Close(t.Context()); err != nil || w.faults.seen() != before {
				t.Errorf("Close once more: %v, %d commands", err, w.faults.seen()-before)
			}
		}
		held := w.mustLock(t, "a")
		if err := closer.Close(t.Context()); err != nil || !w.exists(t) {
			t.Errorf("Close during a sale: %v; the sale's lock is there: %t", err, w.exists(t))
		}
		if err := held.Unlock(t.Context()); err != nil || w.exists(t) {
			t.Errorf("Unlock after Close: %v; the lock is still there: %t", err, w.exists(t))
		}
	})
}

// A process that was asked gives the lock back in the background. Close waits for that, because the process may end right after it.
func TestCloseWaitsForRelease(t *testing.T) {
	eachCached(t, func(t *testing.T, w *world) {
		w.sell(t)
		const slow = time.Second
		w.faults.set(func(redis.Cmder) error { return lock.Sleep(context.Background(), w.parts.Clock, slow) }, nil)
		w.notifier.notify("{"+lock.Key+"}:wanted:"+lock.Owner(w.parts.Process), "")
		began := time.Now()
		if err := w.locker.(lock.Closer).Close(t.Context()); err != nil || w.exists(t) || time.Since(began) != slow {
			t.Errorf("Close: %v, after %v; the lock is still there: %t", err, time.Since(began), w.exists(t))
		}
	})
}

// A lock that was reported as lost is not left to the next sale.
func TestLostLockIsNotCached(t *testing.T) {
	eachCached(t, func(t *testing.T, w *world) {
		held := w.mustLock(t, "a")
		held.Lose()                                                     // as if the store had seen a larger token
		if err := held.Unlock(t.Context()); err != nil || w.exists(t) { // Redis still has the key
			t.Errorf("Unlock of a lost lock: %v; it is still there: %t", err, w.exists(t))
		}
		if asked := w.sell(t); asked == 0 {
			t.Error("the next sale does not ask")
		}
	})
}

// A busy process with a cached lock that gets no messages learns that another process waits when it next asks Redis.
func TestBusyProcessGivesBackLockWithoutMessage(t *testing.T) {
	eachCached(t, func(t *testing.T, w *world) {
		w.rebuild(func(p *strategy.Parts) { p.WaitTimeout, p.HandOffLimit = time.Hour, 64 })
		w.sell(t)
		w.notifier.setDropping(true)
		waiting := lockInBackground(t, w.otherProcess())
		for waited := time.Duration(0); waited < 2*w.parts.TTL; waited += 10 * time.Millisecond {
			select {
			case <-waiting:
				return
			default:
			}
			w.sell(t)
			w.pause(t, 10*time.Millisecond)
		}
		t.Errorf("another process still waits after two expiries")
		<-waiting
	})
}
