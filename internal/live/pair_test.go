package live

import (
	"context"
	"errors"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/lock"
)

// asked is a request's context, which looks at the hub when it is asked whether its reader has left.
type asked struct {
	context.Context //nolint:containedctx // it is one

	look func()
}

func (a asked) Err() error { a.look(); return a.Context.Err() }

// One pair is drawn at a time, none for a reader that has left meanwhile, and the hub's watchers do not wait for it.
func TestPairsAreDrawnOneAtATime(t *testing.T) {
	var hub Hub
	alone := func() {
		if hub.drawingPair.TryLock() {
			t.Error("two are drawn at once")
		}
		if !hub.mu.TryLock() {
			t.Fatal("the hub is locked meanwhile")
		}
		hub.mu.Unlock()
	}
	if _, err := hub.draw(asked{t.Context(), alone}, language.English, "A", "B"); !errors.Is(err, errNoSale) {
		t.Errorf("a reader gets %v; want %v", err, errNoSale)
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := hub.draw(asked{ctx, alone}, language.English, "A", "B"); !errors.Is(err, lock.ErrCancelled) {
		t.Errorf("a reader that has left gets %v; want %v", err, lock.ErrCancelled)
	}
	if !hub.drawingPair.TryLock() {
		t.Error("no other pair can be drawn")
	}
}
