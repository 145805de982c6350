package evolution_test

import (
	"context"
	"errors"
	"testing"

	"lockstep/internal/lock"

	"github.com/redis/go-redis/v9"
)

// Tests of lost commands, lost replies and an unreachable Redis.

func TestUnlockChecksAndDeletesAtOnce(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.isInRedis() {
			return // no key
		}
		a := w.mustLock(t, "a")
		var b *lock.Lease
		w.faults.set(func(cmd redis.Cmder) error {
			if cmd.Name() == "del" { // a's lock expires just before a deletes it, and b locks
				w.faults.mend()
				w.expire(t)
				b = w.mustLock(t, "b")
			}
			return nil
		}, nil)
		if err := a.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		w.faults.mend()
		if w.strategy.Capabilities.ChecksAtomically {
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

func TestLockWithLostReplyReturnsErrOutcomeUnknown(t *testing.T) {
	for name, lose := range map[string]func(*faults){"reply": (*faults).loseReply, "command": (*faults).loseCommand} {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, func(t *testing.T, w *world) {
				if !w.isInRedis() || w.strategy.OnNodes {
					return // no command, or one node of several whose reply is not needed
				}
				lose(w.faults)
				if _, err := w.locker.Lock(t.Context(), lock.Owner("a")); !errors.Is(err, lock.ErrOutcomeUnknown) {
					t.Errorf("Lock: %v; want ErrOutcomeUnknown", err)
				}
				behind := w.exists(t)
				if want := name == "reply" && !w.strategy.Capabilities.TakesBack; behind != want {
					t.Errorf("a lock is left behind: %v; want %v", behind, want)
				}
				if behind && w.strategy.Capabilities.ExpiresAtOnce != (w.ttl(t) > 0) {
					t.Errorf("what is left behind expires in %v", w.ttl(t))
				}
			})
		})
	}
}

func TestNestedLockWithLostReplyIsTakenBack(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.strategy.Capabilities.CountsInRedis {
			return
		}
		outer := w.mustLock(t, "a")
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
		if behind := w.exists(t); behind == w.strategy.Capabilities.TakesBack {
			t.Errorf("counted twice, the lock is left behind: %v", behind)
		}
		if w.exists(t) && w.ttl(t) < 0 {
			t.Error("and never expires")
		}
	})
}

func TestUnlockWithLostReplyReturnsErrOutcomeUnknown(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.isInRedis() || w.strategy.OnNodes {
			return // no command, or one node of several whose reply is not needed
		}
		a := w.mustLock(t, "a")
		w.faults.loseReply()
		if err := w.unlock(t, a); !errors.Is(err, lock.ErrOutcomeUnknown) {
			t.Errorf("Unlock: %v; want ErrOutcomeUnknown", err)
		}
	})
}

func TestUnreachableRedisReturnsErrUnavailable(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.isInRedis() {
			return // does not use Redis
		}
		a, other := w.mustLock(t, "a"), w.otherProcess()
		w.faults.refuse()
		sent := w.faults.seen()
		for name, try := range map[string]func(context.Context, string) (*lock.Lease, error){"Lock": other.Lock, "TryLock": other.TryLock} {
			if _, err := try(t.Context(), lock.Owner("b")); !errors.Is(err, lock.ErrUnavailable) || !errors.Is(err, errFault) {
				t.Errorf("%s: %v; want ErrUnavailable, with its reason", name, err)
			}
		}
		most := 2
		if w.strategy.OnNodes {
			most *= 2 * len(w.parts.Nodes) // a request and a release for each node
		}
		if n := w.faults.seen() - sent; n > most {
			t.Errorf("%d commands for two tries: Redis being gone is not a lock being held", n)
		}
		if err := a.Unlock(t.Context()); errors.Is(err, lock.ErrUnavailable) == w.strategy.Capabilities.Cached {
			t.Errorf("Unlock: %v; want ErrUnavailable, unless it needs no command", err)
		}
		w.faults.mend()
		if w.strategy.Capabilities.Cached {
			if !w.closeAndCheckFree(t) {
				t.Error("the lock is still there")
			}
		} else if err := a.Unlock(t.Context()); err != nil || w.exists(t) {
			t.Errorf("Unlock once Redis is back: %v; the lock is still there: %v", err, w.exists(t))
		}
	})
}

func TestNestedUnlockCanBeRetried(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.strategy.Capabilities.CountsInRedis {
			return
		}
		outer, inner := w.mustLock(t, "a"), w.mustLock(t, "a")
		w.faults.refuse()
		if err := inner.Unlock(t.Context()); !errors.Is(err, lock.ErrUnavailable) {
			t.Errorf("Unlock: %v; want ErrUnavailable", err)
		}
		w.faults.mend()
		if err := inner.Unlock(t.Context()); err != nil || !w.exists(t) {
			t.Errorf("Unlock, tried again: %v; the outer call's lock stands: %v", err, w.exists(t))
		}
		if err := outer.Unlock(t.Context()); err != nil || w.exists(t) {
			t.Errorf("outer Unlock: %v; the lock is still there: %v", err, w.exists(t))
		}
	})
}
