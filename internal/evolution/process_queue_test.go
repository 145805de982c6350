package evolution_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// Tests of the queue of processes in Redis, in which some are dead or late.

// If the holder has died, the lock is free, but belongs to the first process in the queue.
func TestTryLockDoesNotPassQueue(t *testing.T) {
	eachHandedOver(t, func(t *testing.T, w *world) {
		dead := w.mustLock(t, "dead")
		defer func() { _ = dead.Unlock(t.Context()) }() // ends its renewal
		waiting := lockInBackground(t, w.newProcess("waiting"))
		w.expire(t)
		if _, err := w.newProcess("late").TryLock(t.Context(), lock.Owner("b")); !errors.Is(err, lock.ErrNotObtained) {
			t.Errorf("TryLock of a lock for which another process waits: %v", err)
		}
		if waited := <-waiting; waited != w.parts.TTL/4 {
			t.Errorf("the first in the queue waited for %v; want a quarter of %v", waited, w.parts.TTL)
		}
	})
}

// A dead process in the queue is skipped, both when a process locks and when one hands the lock over.
func TestDeadProcessIsSkippedInQueue(t *testing.T) {
	eachHandedOver(t, func(t *testing.T, w *world) {
		bury := func() {
			if err := w.otherClient.LPush(t.Context(), "{"+lock.Key+"}:queue", lock.Owner("dead")).Err(); err != nil {
				t.Error(err)
			}
		}
		bury()
		held, err := w.locker.TryLock(t.Context(), lock.Owner("a"))
		if err != nil {
			t.Fatalf("TryLock of a free lock for which a dead process waits: %v", err)
		}
		waiting := lockInBackground(t, w.newProcess("waiting"))
		bury()
		if err := held.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if waited := <-waiting; waited > 0 {
			t.Errorf("the next one that lives waited for %v", waited)
		}
	})
}

// jumpingClock is a clock that can be set ahead, as after a pause of the process.
type jumpingClock struct {
	lock.Clock
	ahead *atomic.Int64
}

func (j jumpingClock) Now() time.Time { return j.Clock.Now().Add(time.Duration(j.ahead.Load())) }

// If the message of a hand-over comes late, the process locks again, because the lock may expire before its first renewal.
func TestLateHandOverMessageLocksAgain(t *testing.T) {
	eachHandedOver(t, func(t *testing.T, w *world) {
		held, clock := w.mustLock(t, "a"), jumpingClock{w.parts.Clock, new(atomic.Int64)}
		w.rebuild(func(p *strategy.Parts) { p.Process, p.Clock, p.Notifier = "late", clock, w.notifiers.open() })
		waiting := lockInBackground(t, w.locker)
		before := w.faults.seen()
		clock.ahead.Store(int64(w.parts.TTL / 2))
		if err := held.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		<-waiting
		asked := w.faults.seen() - before // a release, a second request, and its release if the lock is not cached
		want := 3
		if w.strategy.Capabilities.Cached {
			want = 2
		}
		if asked != want {
			t.Errorf("%d commands; want %d, as the lock is to be asked for again", asked, want)
		}
	})
}

// hookedNotifier is a notifier that calls do just before a process subscribes to its turn.
type hookedNotifier struct {
	lock.Notifier
	do func()
}

func (b hookedNotifier) Subscribe(channel string, notify func(string)) (unsubscribe func()) {
	if strings.Contains(channel, "turn:") {
		b.do()
	}
	return b.Notifier.Subscribe(channel, notify)
}

// A message that is published before a process has subscribed is lost. So the process asks again after that.
func TestHandOverBeforeSubscriptionIsNoticed(t *testing.T) {
	eachHandedOver(t, func(t *testing.T, w *world) {
		held := w.mustLock(t, "a")
		waiting := lockInBackground(t, w.newProcessWith("waiting", hookedNotifier{w.notifiers.open(), func() {
			if err := held.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		}}))
		if waited := <-waiting; waited > 0 {
			t.Errorf("the process waited for %v, and had the lock", waited)
		}
	})
}

// A process that locks while others wait learns of them, and does not keep the lock.
func TestLockTakenOutOfTurnIsHandedOn(t *testing.T) {
	eachHandedOver(t, func(t *testing.T, w *world) {
		dead := w.mustLock(t, "dead")
		defer func() { _ = dead.Unlock(t.Context()) }() // ends its renewal
		one := lockInBackground(t, w.newProcess("one"))
		w.pause(t, w.parts.TTL/8)
		two := lockInBackground(t, w.newProcess("two"))
		w.expire(t)
		if first, second := <-one, <-two; first != w.parts.TTL/4 || second != w.parts.TTL/8 {
			t.Errorf("two processes waited for %v and %v; want them to have the lock one right after the other", first, second)
		}
	})
}
