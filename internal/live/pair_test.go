package live

import (
	"context"
	"errors"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/lock"
)

// probingContext is the context of a request. It calls onErr when it is asked whether the client has left.
type probingContext struct {
	context.Context //nolint:containedctx // test double of a context

	onErr func()
}

func (a probingContext) Err() error { a.onErr(); return a.Context.Err() }

// One pair is drawn at a time, none for a client that has left in the meantime, and the hub's watchers do not wait for it.
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
	if _, err := hub.draw(probingContext{t.Context(), alone}, language.English, "A", "B"); !errors.Is(err, errNoSale) {
		t.Errorf("got %v, want %v", err, errNoSale)
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := hub.draw(probingContext{ctx, alone}, language.English, "A", "B"); !errors.Is(err, lock.ErrCancelled) {
		t.Errorf("after the client left: got %v, want %v", err, lock.ErrCancelled)
	}
	if !hub.drawingPair.TryLock() {
		t.Error("no other pair can be drawn")
	}
}
