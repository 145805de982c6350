package lock_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"lockstep/internal/lock"
)

func TestHoldings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h lock.Holdings
		started := 0
		start := func() *lock.Renewal {
			started++
			return lock.StartRenewal(options, options.Clock.Now(), func(context.Context) error { return nil })
		}
		outer := h.Join("a", 1, start)
		inner := h.Join("a", 2, start)
		other := h.Join("b", 1, start)
		if inner != outer || other == outer || started != 2 || !h.Hold("a") || h.Hold("c") {
			t.Errorf("%d renewals of two owners; a holds: %t, c holds: %t", started, h.Hold("a"), h.Hold("c"))
		}
		if h.Leave("a") || !h.Hold("a") {
			t.Error("an inner Leave ended the holding")
		}
		if !h.Leave("a") || h.Hold("a") || !h.Hold("b") {
			t.Error("the outermost Leave did not end the holding, or another one")
		}
		if !h.Leave("a") {
			t.Error("Leave of one that holds nothing is an outermost one")
		}
		if h.Join("b", 1, start); !other.Lost() || outer.Lost() {
			t.Error("Redis counts one lease of two: the outer call's lock had gone, and it should know")
		}
		h.Leave("b")
		h.Leave("b")
	})
}

// Owners come and go at once. For -race.
func TestHoldingsOfManyOwners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h lock.Holdings
		var all sync.WaitGroup
		for _, owner := range []string{"a", "b", "c"} {
			all.Go(func() {
				for range 100 {
					h.Join(owner, 1, func() *lock.Renewal {
						return lock.StartRenewal(options, options.Clock.Now(), func(context.Context) error { return nil })
					})
					if !h.Hold(owner) || !h.Leave(owner) || h.Hold(owner) {
						t.Error("one owner's holding is another's")
					}
				}
			})
		}
		all.Wait()
	})
}
