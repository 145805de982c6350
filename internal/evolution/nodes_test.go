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

// Tests of a lock on several masters, some of which fail.

// eachNodeWorld runs a test for every lock on several masters.
func eachNodeWorld(t *testing.T, test func(*testing.T, *world)) {
	t.Helper()
	eachWorld(t, func(t *testing.T, w *world) {
		if w.strategy.OnNodes {
			test(t, w)
		}
	})
}

// hookNode calls do before each command to the i-th node. If it returns an error, the command is not sent.
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
		w.pause(t, 2*w.parts.TTL) // renewed on the other nodes
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

// A node that hangs delays a sale once, by a twentieth of the expiry. Then it is skipped until it answers.
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
		close(answers) // now a's lock is set there, and released right after
		for began := time.Now(); w.hasUnreleasedLock(t) || w.exists(t); w.pause(t, time.Millisecond) {
			if time.Since(began) > w.parts.TTL {
				t.Fatalf("the lock was left behind on the node that hung; %v", w.faults.names)
			}
		}
	})
}

// hasUnreleasedLock reports whether more locks were set than released, over all nodes.
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

// A majority that took longer than the lock is valid for does not count.
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

// skippingClock is a clock that skips a minute, more than an expiry, at each call of Now.
type skippingClock struct {
	lock.Clock
	ahead *time.Duration
}

func (h skippingClock) Now() time.Time {
	*h.ahead += time.Minute
	return h.Clock.Now().Add(*h.ahead)
}
