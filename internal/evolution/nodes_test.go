package evolution_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// What a lock on several masters does when some of them fail.

// eachNodeWorld runs a test for those locks.
func eachNodeWorld(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	eachWorld(t, func(t *testing.T, w *world) {
		if w.strategy.OnNodes {
			test(t, w)
		}
	})
}

// hookNode does something before each command for one node; an error keeps the command from being sent.
func (w *world) hookNode(i int, do func(context.Context, redis.Cmder) error) {
	w.parts.Nodes[i].(redis.UniversalClient).AddHook(&faults{within: do})
}

func refuseCommand(context.Context, redis.Cmder) error {
	return &net.OpError{Op: "dial", Err: errFault}
}

func TestLockSurvivesMinorityOfNodesDown(t *testing.T) {
	eachNodeWorld(t, func(t *testing.T, w *world) {
		w.useShortExpiry(t)
		w.hookNode(0, refuseCommand)
		a := w.mustLock(t, "a")
		w.pause(t, 2*w.parts.TTL) // it is renewed by the others
		if a.Context().Err() != nil {
			t.Errorf("the lock was lost: %v", context.Cause(a.Context()))
		}
		if _, err := w.otherProcess().TryLock(t.Context(), lock.Owner("b")); !errors.Is(err, lock.ErrNotObtained) {
			t.Errorf("TryLock of a held lock: %v", err)
		}
		if err := a.Unlock(t.Context()); err != nil || w.exists(t) {
			t.Errorf("Unlock: %v; the lock is still there: %v", err, w.exists(t))
		}
		w.hookNode(1, refuseCommand)
		_, err := w.locker.Lock(t.Context(), lock.Owner("c"))
		if !errors.Is(err, lock.ErrUnavailable) || !strings.Contains(err.Error(), "2 of 3") {
			t.Errorf("Lock with a majority down: %v; want ErrUnavailable", err)
		}
		if w.exists(t) {
			t.Error("the minority's lock was left behind")
		}
	})
}

// A node that hangs is waited for once, a twentieth of the expiry, and then passed over until it answers.
func TestHungNodeIsSkipped(t *testing.T) {
	eachNodeWorld(t, func(t *testing.T, w *world) {
		answers := make(chan struct{})
		w.hookNode(2, func(ctx context.Context, _ redis.Cmder) error {
			select {
			case <-answers:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		began := time.Now()
		a := w.mustLock(t, "a")
		if waited := time.Since(began); waited < w.parts.TTL/20 || waited > w.parts.TTL/20+w.slack {
			t.Errorf("Lock took %v; want a twentieth of %v", waited, w.parts.TTL)
		}
		if err := a.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		began = time.Now()
		b := w.mustLock(t, "b")
		if err := b.Unlock(t.Context()); err != nil || time.Since(began) >= w.parts.TTL/20+w.slack {
			t.Errorf("the next sale: %v, after %v; want the node to be passed over", err, time.Since(began))
		}
		close(answers) // a's lock is set there now, and given back right after
		for began := time.Now(); w.hasUnreleasedLock(t) || w.exists(t); w.pause(t, time.Millisecond) {
			if time.Since(began) > w.parts.TTL {
				t.Fatalf("the lock was left behind on the node that hung; %v", w.faults.names)
			}
		}
	})
}

// hasUnreleasedLock reports whether the last node has been set and not yet been released, or neither.
func (w *world) hasUnreleasedLock(t *testing.T) bool {
	t.Helper()
	w.faults.mu.Lock()
	defer w.faults.mu.Unlock()
	sets, releases := 0, 0
	for _, name := range w.faults.names {
		switch name {
		case "set":
			sets++
		case "eval":
			releases++
		}
	}
	return sets != releases
}

// A claim that took longer than it is valid for is none.
func TestLateMajorityIsNotObtained(t *testing.T) {
	eachNodeWorld(t, func(t *testing.T, w *world) {
		w.rebuild(func(p *strategy.Parts) { p.Clock = skippingClock{p.Clock, new(time.Duration)} })
		if _, err := w.locker.TryLock(t.Context(), lock.Owner("a")); !errors.Is(err, lock.ErrNotObtained) {
			t.Errorf("TryLock: %v; want ErrNotObtained", err)
		}
		if w.exists(t) {
			t.Error("what came too late was left behind")
		}
	})
}

// skippingClock is a clock on which an expiry passes between any two looks.
type skippingClock struct {
	lock.Clock
	ahead *time.Duration
}

func (h skippingClock) Now() time.Time {
	*h.ahead += time.Minute
	return h.Clock.Now().Add(*h.ahead)
}
