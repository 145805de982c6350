package live

import (
	"testing"
	"time"

	"lockstep/internal/watch/witness"
)

// While Redis does not answer, events are kept for when it does: the latest.
func TestTheInboxIsBounded(t *testing.T) {
	h := &Hub{Now: time.Now, stop: func() {}}
	for id := range uint64(3 * mostOthers) {
		h.see(witness.Event{ID: id})
		if id%1000 == 0 {
			h.show(t.Context(), time.Now())
		}
	}
	h.show(t.Context(), time.Now())
	if n := len(h.inbox); n != mostOthers || h.inbox[n-1].ID != 3*mostOthers-1 {
		t.Errorf("it keeps %d events, up to %d", n, h.inbox[n-1].ID)
	}
}
