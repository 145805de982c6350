package live

import (
	"testing"
	"time"

	"lockstep/internal/witness"
)

// While Redis does not answer, only the latest events are kept.
func TestInboxIsBounded(t *testing.T) {
	h := &Hub{Now: time.Now, stopFollowing: func() {}}
	for id := range uint64(3 * maxOtherEvents) {
		h.enqueue(witness.Event{ID: id})
		if id%1000 == 0 {
			h.publishEvents(t.Context(), time.Now())
		}
	}
	h.publishEvents(t.Context(), time.Now())
	if n := len(h.inbox); n != maxOtherEvents || h.inbox[n-1].ID != 3*maxOtherEvents-1 {
		t.Errorf("got %d events up to id %d, want the latest maxOtherEvents", n, h.inbox[n-1].ID)
	}
}

// However many sales waited, faults and events of replicas are sent.
func TestCostFindingsDoNotCrowdOutFaults(t *testing.T) {
	f := newFindingLog()
	for range maxFindings {
		waited := witness.Finding{Kind: witness.WaitedLong}
		f.send(&sentFinding{Finding: waited, kind: "waited", sentence: waited.Sentence})
		f.takeFrames()
	}
	lost := witness.Finding{Kind: witness.LostUpdate}
	f.send(&sentFinding{Finding: lost, kind: "lost-update", isBad: true, sentence: lost.Sentence})
	f.send(&sentFinding{kind: "dies", sentence: witness.Event{Kind: witness.KindDies}.Sentence})
	if frames := f.takeFrames(); len(frames) != 2 {
		t.Errorf("after %d sales that waited: got %d frames, want 2", maxFindings, len(frames))
	}
}
