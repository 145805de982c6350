package harness

import (
	"testing"

	"lockstep/internal/explore/execution"
	"lockstep/internal/explore/scenario"
	"lockstep/internal/lock/evolution"
)

// Whether C queued before B was given the lock, or after, decides whose token is the later one. Nothing else tells the two apart before B
// knows that it has the lock, so the state has to: one that stands for both would lead on as one of them alone.
func TestWhoQueuedBeforeAGrant(t *testing.T) {
	s, err := evolution.Find("v9")
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(s, scenario.Scenario{Actors: 3}, Options{}, execution.NewSeeds())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	after := func(schedule string) execution.Fingerprint {
		run := h.Begin(false)
		defer run.Close()
		run.Record()
		if _, _, err := run.Follow(schedule, s); err != nil {
			t.Fatal(err)
		}
		return run.Fingerprint()
	}
	before := after("A:acquire B:acquire C:acquire A:readFenced A:write A:release B:woken")
	if before == after("A:acquire B:acquire A:readFenced A:write A:release B:woken C:acquire") {
		t.Error("the states are the same")
	}
	if before != after("A:acquire B:acquire C:acquire A:readFenced A:write A:release B:woken") {
		t.Error("the same schedule leads to another state")
	}
}
