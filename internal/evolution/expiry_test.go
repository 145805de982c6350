package evolution_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/internal/evolution"
	"lockstep/internal/lock"

	"github.com/redis/go-redis/v9"
)

// Tests of expiry and renewal.

func TestAbandonedLockExpires(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.isInRedis() || w.strategy.Capabilities.Renewed {
			return // a lock in memory dies with its process; for renewed locks see TestLongOutageLosesLockAtDeadline
		}
		w.useShortExpiry(t)
		w.mustLock(t, "a")
		if !w.strategy.Capabilities.Expires {
			if ttl := w.ttl(t); ttl != -1 {
				t.Errorf("the lock expires in %v; this version's flaw is that it never does", ttl)
			}
			return
		}
		b := w.mustLock(t, "b") // waits until a's lock has expired
		if err := b.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestRenewalKeepsLockBeyondExpiry(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.strategy.Capabilities.Expires {
			return
		}
		w.useShortExpiry(t)
		a := w.mustLock(t, "a")
		waiting, leave := context.WithCancel(t.Context())
		most := 2 * w.parts.TTL
		if !w.strategy.Capabilities.Renewed {
			most = w.parts.WaitTimeout // b gets the lock long before
		}
		w.parts.Clock.AfterFunc(most, leave) // a deadline could end a command
		b, err := w.locker.Lock(waiting, lock.Owner("b"))
		if w.strategy.Capabilities.Renewed != errors.Is(err, lock.ErrCancelled) {
			t.Errorf("b, while a works for two expiries: %v", err)
		}
		if a.Context().Err() != nil {
			t.Errorf("a's work was cancelled: %v", context.Cause(a.Context()))
		}
		if w.strategy.Capabilities.Renewed {
			if err := a.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		} else if b == nil || b.Unlock(t.Context()) != nil {
			t.Error("b should have the lock while a works on: that is this version's flaw")
		}
	})
}

func TestLostLockCancelsWork(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.strategy.Capabilities.Renewed {
			return // cannot notice
		}
		w.useShortExpiry(t)
		a := w.mustLock(t, "a")
		inner := w.mustLock(t, "a")
		w.expire(t)
		for name, lease := range map[string]*lock.Lease{"outer": a, "inner": inner} {
			select {
			case <-lease.Context().Done():
			case <-time.After(10 * w.parts.TTL):
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

func TestNestedLockDoesNotReviveLostLock(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.strategy.Capabilities.Renewed || !w.strategy.Capabilities.CountsInRedis {
			return // a nested call does not ask Redis
		}
		outer := w.mustLock(t, "a")
		w.expire(t)
		inner := w.mustLock(t, "a") // locks again, but others may have held the lock in between
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

func TestRenewalSurvivesShortOutage(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.strategy.Capabilities.Renewed {
			return
		}
		w.useShortExpiry(t)
		a := w.mustLock(t, "a")
		var failed atomic.Int64
		w.faults.set(func(redis.Cmder) error {
			if failed.Add(1) > 5 {
				return nil
			}
			return &net.OpError{Op: "dial", Err: errFault}
		}, nil)
		w.pause(t, 2*w.parts.TTL)
		if a.Context().Err() != nil || failed.Load() <= 5 {
			t.Errorf("after %d commands, the first five failed: %v", failed.Load(), context.Cause(a.Context()))
		}
		if err := a.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestLongOutageLosesLockAtDeadline(t *testing.T) {
	strategy, err := evolution.Find("v6")
	if err != nil {
		t.Fatal(err)
	}
	onEmbeddedServer(t, strategy, func(t *testing.T, w *world) { // virtual time, which is exact
		began := w.parts.Clock.Now()
		a := w.mustLock(t, "a")
		w.faults.refuse()
		<-a.Context().Done()
		if cause := context.Cause(a.Context()); !errors.Is(cause, lock.ErrLost) {
			t.Errorf("the work was cancelled with %v; want ErrLost", cause)
		}
		if after := w.parts.Clock.Now().Sub(began); after != w.parts.TTL {
			t.Errorf("lost after %v; want one expiry, %v, after the acquire was sent", after, w.parts.TTL)
		}
		w.faults.mend()
		if err := a.Unlock(t.Context()); err == nil {
			t.Error("Unlock of a lost lock says nothing")
		}
	})
}

func TestRenewalEndsAtLastUnlock(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.strategy.Capabilities.Renewed {
			return
		}
		w.useShortExpiry(t)
		outer, inner := w.mustLock(t, "a"), w.mustLock(t, "a")
		if err := inner.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		w.pause(t, w.parts.TTL*3/2)
		if !w.exists(t) {
			t.Error("the inner Unlock ended the renewal")
		}
		if err := outer.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		sent := w.faults.seen()
		w.pause(t, w.parts.TTL/2) // longer than the third of an expiry between renewals
		if n := w.faults.seen() - sent; n != 0 {
			t.Errorf("%d commands after the last Unlock", n)
		}
	})
}
