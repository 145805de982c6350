package explore_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/trace"
)

// A step that does not fit is an error with the step's number, the reason, and, if that helps, the possible steps or the faults needed.
func TestReplayExplainsStaleStep(t *testing.T) {
	for name, test := range map[string]struct {
		lock, schedule string
		scenario       explore.Scenario
		want           error
		says           string
	}{
		"nothing to lose": {lock: "v4", schedule: "A:SET A:GET/unsynced", scenario: faults("failover=1"), want: explore.ErrStale,
			says: "step 2, A:GET/unsynced: the schedule does not fit the code: that fault would make no difference to A"},
		"no step": {lock: "v2", schedule: "A:SET nonsense", scenario: faults("expiry=1"), want: explore.ErrMalformed, says: "step 2, nonsense: "},
		"other command": {lock: "v4", schedule: "A:SET A:GET A:write A:DEL", want: explore.ErrStale,
			says: "step 4, A:DEL: the schedule does not fit the code: the next step of A is compareAndDelete, not DEL"},
		"another lock's": {lock: "v5", schedule: "A:SET expiry B:SET", scenario: faults("expiry=1"), want: explore.ErrStale,
			says: "step 1, A:SET: the schedule does not fit the code: the next step of A is lock, not SET"},
		"not possible": {lock: "v1", schedule: "A:SET expiry", scenario: faults("expiry=1"), want: explore.ErrStale,
			says: "step 2, expiry: the schedule does not fit the code: possible at this point: A:GET, B:…"},
		"no such actor": {lock: "v1", schedule: "C:SET", want: explore.ErrStale, says: "possible at this point: A:…"},
		"no budget":     {lock: "v2", schedule: "A:SET expiry B:SET", want: explore.ErrStale, says: "step 2, expiry: it needs --faults expiry=1"},
		"too small a budget": {lock: "v4", schedule: "A:SET A:pauses A:resumes A:pauses A:leaves", scenario: faults("pause=1,late=2"),
			want: explore.ErrStale, says: "step 4, A:pauses: it needs --faults pause=2,cancel=1,late=2"},
		"half a fault": {lock: "v4", schedule: "A:SET/unsynced failover", want: explore.ErrStale,
			says: "step 1, A:SET/unsynced: it needs --faults failover=1"},
		"longer than all": {lock: "v0", schedule: "A:GET A:write B:GET B:write A:GET", want: explore.ErrStale,
			says: "nothing more can happen at this point"},
		"bad scenario": {lock: "v0", schedule: "A:GET", scenario: explore.Scenario{Actors: 30}, says: "actors: 30; it takes 1 to 26"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.scenario.Actors == 0 {
				test.scenario.Actors = 2
			}
			replayed, err := explore.Replay(findStrategy(t, test.lock), test.scenario, test.schedule)
			if err == nil || !strings.Contains(err.Error(), test.says) || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("got %v; want %v that says %q", err, test.want, test.says)
			}
			if len(replayed.Hits) > 0 {
				t.Errorf("got the anomalies %+v; want none from a schedule that does not fit", replayed.Hits)
			}
		})
	}
}

// A goroutine of a paused process is not a leak, because it may end when the process resumes.
func TestPausedGoroutineIsNoLeak(t *testing.T) {
	in := explore.Scenario{Actors: 2, Try: 2, Faults: faults("expiry=1,pause=1").Faults}
	replayed, err := explore.Replay(findStrategy(t, "redlock"), in, "A:waits A.node1:SET expiry A.node2:SET A.node1:compareAndDelete "+
		"A.node2:compareAndDelete A.node3:SET/pauses-after")
	if err != nil || len(replayed.Hits) > 0 {
		t.Errorf("got error %v, anomalies %+v; want neither", err, replayed.Hits)
	}
}

// Replay returns the steps before the one that does not fit.
func TestReplayReturnsStepsBeforeStaleOne(t *testing.T) {
	replayed, err := explore.Replay(findStrategy(t, "v4"), explore.Scenario{Actors: 2}, "A:SET A:GET B:DEL")
	if !errors.Is(err, explore.ErrStale) || replayed.Schedule() != "A:SET A:GET" {
		t.Errorf("got %v after %q; want ErrStale after two steps", err, replayed.Schedule())
	}
}

// A write that its client sends twice is recognized by its order: it sells once, and the step says so.
func TestResentSaleSellsOnce(t *testing.T) {
	for lock, schedule := range map[string]string{
		"atomic": "A:take/resent A:take B:take",
		"v0":     "A:GET A:write/resent A:write B:GET B:write",
	} {
		t.Run(lock, func(t *testing.T) {
			replayed, err := explore.Replay(findStrategy(t, lock), twoActors("resend=1"), schedule)
			if err != nil || len(replayed.Hits) > 0 {
				t.Fatalf("got error %v, anomalies %+v; want neither", err, replayed.Hits)
			}
			last := replayed.Steps[len(replayed.Steps)-1]
			isSaid := slices.ContainsFunc(replayed.Steps, func(s trace.Step) bool {
				return strings.Contains(s.Says, "the ledger already has A's order: nothing is written")
			})
			if last.Stock != "98" || !isSaid {
				t.Errorf("got stock %s, repetition mentioned: %t; want 98, true", last.Stock, isSaid)
			}
		})
	}
}

// A client cannot resend a transaction, because it has lost the connection of its WATCH.
func TestTransactionIsNotResent(t *testing.T) {
	replayed, err := explore.Replay(findStrategy(t, "optimistic"), twoActors("resend=1"), "A:WATCH A:GET A:MULTI/resent A:MULTI A:UNWATCH")
	if err != nil || len(replayed.Hits) > 0 {
		t.Fatalf("got error %v, anomalies %+v; want neither", err, replayed.Hits)
	}
	for step, says := range map[int]string{0: "A watches the stock", 3: "", 4: "A fails: redis did not answer: the outcome is unknown"} {
		if got := replayed.Steps[step].Says; got != says {
			t.Errorf("step %d: got %q; want %q", step+1, got, says)
		}
	}
}

// Every step says what has happened, and which state follows.
func TestStepsDescribeState(t *testing.T) {
	replayed, err := explore.Replay(findStrategy(t, "v4"), twoActors("crash=1,lost-reply=1"),
		"A:SET B:SET A:GET A:write/lost A:compareAndDelete B:SET B:GET/dies-after")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"A takes the lock | lock: A, for 10s; stock: 100",
		"B tries the lock: A has it | lock: A, for 10s; stock: 100",
		"A reads stock 100 | lock: A, for 10s; stock: 100",
		"A writes stock 99, but never gets the reply | lock: A, for 10s; stock: 99",
		"A gives the lock back; A fails: redis did not answer: the outcome is unknown | no lock; stock: 99",
		"B takes the lock | lock: B, for 10s; stock: 99",
		"B reads stock 99, and dies | lock: B, for 10s; stock: 99",
	}
	for i, step := range replayed.Steps {
		if got := step.Says + " | " + step.State(language.English); got != want[i] {
			t.Errorf("step %d, %s: got %q; want %q", i+1, step.Token, got, want[i])
		}
	}
	if len(replayed.Steps) != len(want) || len(replayed.Hits) > 0 {
		t.Errorf("got %d steps, anomalies %v; want %d steps and no anomaly", len(replayed.Steps), replayed.Hits, len(want))
	}
}

// twoActors returns a scenario of two actors with these fault budgets.
func twoActors(text string) explore.Scenario {
	s := faults(text)
	s.Actors = 2
	return s
}
