package live

import (
	"testing"
	"time"

	"lockstep/internal/witness"
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

// However long sales waited: what goes wrong is told, and what happens to a replica.
func TestCostsLeaveRoom(t *testing.T) {
	f := newFindings()
	for range mostSent {
		waited := witness.Finding{Kind: witness.WaitedLong}
		f.send(&finding{Finding: waited, kind: "waited", says: waited.Sentence})
		f.newFindings()
	}
	lost := witness.Finding{Kind: witness.LostUpdate}
	f.send(&finding{Finding: lost, kind: "lost-update", bad: true, says: lost.Sentence})
	f.send(&finding{kind: "dies", says: witness.Event{Kind: witness.KindDies}.Sentence})
	if told := f.newFindings(); len(told) != 2 {
		t.Errorf("after %d sales that waited, %d of two others are told", mostSent, len(told))
	}
}
