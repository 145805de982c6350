package evolution_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// Tests of fencing tokens. A lock without them always has the token 0.

// tokenChecker checks that each token is larger than all before.
type tokenChecker struct {
	world *world
	last  int64
}

func (k *tokenChecker) check(t *testing.T, lease *lock.Lease) {
	t.Helper()
	token := lease.Token()
	if !k.world.strategy.Capabilities.Fenced && token != 0 {
		t.Errorf("token %d; the row says that there is none", token)
	}
	if k.world.strategy.Capabilities.Fenced && token <= k.last {
		t.Errorf("token %d, after %d", token, k.last)
	}
	k.last = token
}

// Each sale has a larger token than the one before it, also in another process. A nested call has the token of its sale.
func TestTokensGrowAcrossProcesses(t *testing.T) {
	eachInVirtualTime(t, func(t *testing.T, w *world) {
		w.rebuild(func(p *strategy.Parts) { p.HandOffLimit = 3 }) // few tokens are reserved at a time, so that they run out often
		processes, seen := []lock.Locker{w.locker, w.otherProcess(), w.newProcess("third")}, tokenChecker{world: w}
		var working sync.WaitGroup
		for i, process := range processes {
			for j := range 3 {
				working.Go(func() {
					owner := lock.Owner(fmt.Sprint(i, j))
					for range 20 {
						lease, err := process.Lock(t.Context(), owner)
						if err != nil {
							t.Error(err)
							return
						}
						seen.check(t, lease) // under the lock
						if w.strategy.Capabilities.Reentrant {
							nested, err := process.Lock(t.Context(), owner)
							if err != nil {
								t.Error(err)
								return
							}
							if nested.Token() != lease.Token() {
								t.Errorf("a nested call has token %d, its sale %d", nested.Token(), lease.Token())
							}
							if err := nested.Unlock(t.Context()); err != nil {
								t.Error(err)
							}
						}
						if err := lease.Unlock(t.Context()); err != nil {
							t.Error(err)
						}
					}
				})
			}
			working.Wait() // first one process after the other; below, all at once
		}
		for i, process := range slices.Repeat(processes, 3) {
			working.Go(func() {
				for range 20 {
					lease, err := process.Lock(t.Context(), lock.Owner(fmt.Sprint("all", i)))
					if err != nil {
						t.Error(err)
						return
					}
					seen.check(t, lease)
					if err := lease.Unlock(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		working.Wait()
	})
}

// lastToken returns the last token that Redis has given.
func (w *world) lastToken(t *testing.T) int64 {
	t.Helper()
	last, err := w.otherClient.Get(t.Context(), "{"+lock.Key+"}:fence").Int64()
	if err != nil {
		t.Fatal(err)
	}
	return last
}

// A process uses only tokens that Redis gave it, also if more sales come at once than it has tokens left.
func TestTokensAreGivenByRedis(t *testing.T) {
	eachInVirtualTime(t, func(t *testing.T, w *world) {
		if !w.strategy.Capabilities.Fenced {
			return
		}
		w.rebuild(func(p *strategy.Parts) { p.HandOffLimit = 4 })
		for alone := range 8 {
			for range alone {
				if err := w.mustLock(t, "alone").Unlock(t.Context()); err != nil {
					t.Error(err)
				}
			}
			var together sync.WaitGroup
			held := w.mustLock(t, "first")
			for i := range 9 {
				together.Go(func() {
					lease, err := w.locker.Lock(t.Context(), lock.Owner(fmt.Sprint(i)))
					if err != nil {
						t.Error(err)
						return
					}
					if token, given := lease.Token(), w.lastToken(t); token > given {
						t.Errorf("after %d sales alone, sale %d has token %d; Redis has given %d so far", alone, i, token, given)
					}
					if err := lease.Unlock(t.Context()); err != nil {
						t.Error(err)
					}
				})
			}
			w.wait()
			if err := held.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
			together.Wait()
		}
	})
}

// Tokens grow by Redis's clock if Redis has lost the last token, and from the last token if the clock was set back.
func TestTokensGrowAfterRedisLosesThem(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		if !w.strategy.Capabilities.Fenced {
			return
		}
		seen := tokenChecker{world: w}
		sell := func() {
			t.Helper()
			lease := w.mustLock(t, "a")
			seen.check(t, lease)
			if err := w.unlock(t, lease); err != nil {
				t.Error(err)
			}
		}
		forget := func(last int64) {
			t.Helper()
			err := errors.Join(w.otherClient.FlushAll(t.Context()).Err(), w.otherClient.Set(t.Context(), "{"+lock.Key+"}:fence", last, 0).Err())
			if err != nil {
				t.Fatal(err)
			}
			w.pause(t, time.Millisecond)
			w.rebuild(func(*strategy.Parts) {}) // a new process, without a cached lock
		}
		sell()
		sell()
		forget(1) // as from an older snapshot
		sell()
		ahead := seen.last + int64(time.Hour/time.Microsecond) // an hour ahead of the clock
		forget(ahead)
		sell()
		if want := ahead + 1; seen.last != want {
			t.Errorf("after token %d, the next is %d; want %d", ahead, seen.last, want)
		}
	})
}

// Processes may have different hand-off limits. Each uses only the tokens that were reserved for it.
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
						_ = lock.Sleep(t.Context(), w.parts.Clock, time.Millisecond) // long enough for the others to wait
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
