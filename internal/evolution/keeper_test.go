package evolution_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// A keeper that lives, sells one piece after the other, and hears nothing: it learns that another process waits when it asks Redis again.
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

// Processes may have different hand-off limits: a grant has the tokens that were reserved for it, and no more.
func TestTokensGrowWithDifferentHandOffLimits(t *testing.T) {
	eachHandedOver(t, func(t *testing.T, w *world) {
		seen := tokenChecker{world: w}
		var working sync.WaitGroup
		for i, limit := range []int{0, 3, 64} {
			w.parts.HandOffLimit = limit
			process := w.newProcess(fmt.Sprint(limit))
			for j := range 5 {
				working.Go(func() {
					for range 20 {
						lease, err := process.Lock(t.Context(), lock.Owner(fmt.Sprint(i, j)))
						if err != nil {
							t.Error(err)
							return
						}
						seen.check(t, lease)
						_ = lock.Sleep(t.Context(), w.parts.Clock, time.Millisecond) // so that the others wait
						if err := lease.Unlock(t.Context()); err != nil {
							t.Error(err)
						}
					}
				})
			}
		}
		working.Wait()
	})
}

// TryLock asks nothing of a buyer who has gone.
func TestTryLockReturnsErrCancelled(t *testing.T) {
	eachInVirtualTime(t, func(t *testing.T, w *world) {
		if w.strategy.Scope != strategy.Everybody {
			return // it asks Redis nothing
		}
		w.sell(t)
		ended, end := context.WithCancel(t.Context())
		end()
		if _, err := w.locker.TryLock(ended, lock.Owner("b")); !errors.Is(err, lock.ErrCancelled) {
			t.Errorf("TryLock: %v; want ErrCancelled", err)
		}
	})
}
