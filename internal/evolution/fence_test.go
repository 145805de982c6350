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

// Fencing tokens. A lock without them gives the token 0, always.

// tokenChecker checks each next token: it is larger than all before.
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

// Each sale has a larger token than the one before, in whichever process that was, and a nested call has its sale's.
func TestTokensGrowAcrossProcesses(t *testing.T) {
	eachInVirtualTime(t, func(t *testing.T, w *world) {
		w.rebuild(func(p *strategy.Parts) { p.HandOffLimit = 3 }) // tokens are reserved for few sales, and used up often
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
			working.Wait() // one process after the other, and then all at once
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

// lastToken is the last token that Redis has given.
func (w *world) lastToken(t *testing.T) int64 {
	t.Helper()
	last, err := w.otherClient.Get(t.Context(), "{"+lock.Key+"}:fence").Int64()
	if err != nil {
		t.Fatal(err)
	}
	return last
}

// A process never uses a token that Redis did not give it, however its sales come: alone, or more at once than tokens are left.
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

// A token is larger than all before also if Redis has forgotten them, as its clock goes on; and if its clock is behind, as it has not.
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
			w.rebuild(func(*strategy.Parts) {}) // one that keeps no lock
		}
		sell()
		sell()
		forget(1) // an older snapshot
		sell()
		ahead := seen.last + int64(time.Hour/time.Microsecond) // of the clock
		forget(ahead)
		sell()
		if want := ahead + 1; seen.last != want {
			t.Errorf("after token %d, the next is %d; want %d", ahead, seen.last, want)
		}
	})
}
