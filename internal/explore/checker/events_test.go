package checker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/strategy"
)

// What locks say, their order and their tokens are judged by what is told alone: no engine is needed.
func TestEvents(t *testing.T) {
	told, stop := context.WithCancelCause(t.Context())
	stop(errors.New("its time is up"))
	lease := func(ctx context.Context, token int64) *lock.Lease {
		return lock.NewLease(ctx, lock.SystemClock{}, token, nil)
	}
	for name, test := range map[string]struct {
		happens func(*Checker)
		finds   []anomaly.Anomaly
	}{
		"one after the other": {func(c *Checker) {
			for i := range 2 {
				c.Ask(i, "")
				c.Enter(i, lease(t.Context(), int64(i+1)))
				c.EndUnlock(i, c.BeginUnlock(i), nil)
			}
		}, nil},
		"two at once": {func(c *Checker) {
			for i := range 2 {
				c.Ask(i, "")
				c.Enter(i, lease(t.Context(), 0))
			}
		}, []anomaly.Anomaly{anomaly.TwoHolders}},
		"one was told to stop": {func(c *Checker) {
			c.Enter(a, lease(told, 0))
			c.Enter(b, lease(t.Context(), 0))
		}, nil},
		"a token again": {func(c *Checker) {
			for i := range 2 {
				c.Enter(i, lease(t.Context(), 7))
				c.EndUnlock(i, c.BeginUnlock(i), nil)
			}
		}, []anomaly.Anomaly{anomaly.TokenOrder}},
		"a nested call with a token of its own": {func(c *Checker) {
			c.Enter(a, lease(t.Context(), 1))
			c.Enter(a, lease(t.Context(), 2))
		}, []anomaly.Anomaly{anomaly.TokenOrder}},
		"overtaken": {func(c *Checker) {
			for range 2 {
				c.Ask(a, "")
				c.Queue(a)
				c.Ask(b, "")
				c.Queue(b)
				c.Enter(b, lease(t.Context(), 0))
				c.EndUnlock(b, c.BeginUnlock(b), nil)
			}
		}, nil}, // once: who asks anew stands behind again
		"overtaken twice": {func(c *Checker) {
			c.Ask(a, "")
			c.Queue(a)
			for range 2 {
				c.Ask(b, "")
				c.Queue(b)
				c.Enter(b, lease(t.Context(), 0))
				c.EndUnlock(b, c.BeginUnlock(b), nil)
			}
		}, []anomaly.Anomaly{anomaly.Starved}},
		"its client went away, it hears": {func(c *Checker) {
			c.Ask(a, "")
			c.Refuse(a, lock.ErrCancelled, false)
		}, []anomaly.Anomaly{anomaly.FalseWord}},
		"expired, it hears": {func(c *Checker) {
			c.Ask(a, "")
			c.Enter(a, lease(t.Context(), 0))
			c.EndUnlock(a, c.BeginUnlock(a), fmt.Errorf("unlock: %w", lock.ErrExpired))
		}, []anomaly.Anomaly{anomaly.FalseWord}},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := simredis.NewMemory("a run")
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			c := New(Setup{
				Driver: noEngine{m.NewCluster(m.Empty(), 0)}, Key: "orders", Scope: strategy.Everybody, Overtakes: 1,
				Actors: []Actor{{Name: "A", Process: "A", Life: alive{}}, {Name: "B", Process: "B", Life: alive{}}},
			})
			test.happens(c)
			c.Check()
			var found []anomaly.Anomaly
			for _, f := range c.Found() {
				found = append(found, f.Anomaly)
			}
			if !slices.Equal(found, test.finds) {
				t.Errorf("found %v; want %q", c.Found(), test.finds)
			}
		})
	}
}
