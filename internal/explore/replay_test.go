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

func TestReplayTellsWhatDoesNotFit(t *testing.T) {
	for name, test := range map[string]struct {
		lock, schedule string
		scenario       explore.Scenario
		want           error
		says           string
	}{
		"nothing to lose": {"v4", "A:SET A:GET/unsynced", faults("failover=1"), explore.ErrStale,
			"step 2, A:GET/unsynced: the schedule does not fit the code: A would be as it is without that fault"},
		"no step": {"v2", "A:SET nonsense", faults("expiry=1"), explore.ErrMalformed, "step 2, nonsense: "},
		"other command": {"v4", "A:SET A:GET A:write A:DEL", explore.Scenario{}, explore.ErrStale,
			"step 4, A:DEL: the schedule does not fit the code: what A does next is compareAndDelete, not DEL"},
		"another lock's": {"v5", "A:SET expiry B:SET", faults("expiry=1"), explore.ErrStale,
			"step 1, A:SET: the schedule does not fit the code: what A does next is lock, not SET"},
		"not possible": {"v1", "A:SET expiry", faults("expiry=1"), explore.ErrStale,
			"step 2, expiry: the schedule does not fit the code: what can happen at this point is A:GET, B:…"},
		"no such actor": {"v1", "C:SET", explore.Scenario{}, explore.ErrStale, "what can happen at this point is A:…"},
		"no budget":     {"v2", "A:SET expiry B:SET", explore.Scenario{}, explore.ErrStale, "step 2, expiry: it needs --faults expiry=1"},
		"too small a budget": {"v4", "A:SET A:pauses A:resumes A:pauses A:leaves", faults("pause=1,late=2"), explore.ErrStale,
			"step 4, A:pauses: it needs --faults pause=2,cancel=1,late=2"},
		"half a fault": {"v4", "A:SET/unsynced failover", explore.Scenario{}, explore.ErrStale,
			"step 1, A:SET/unsynced: it needs --faults failover=1"},
		"longer than all": {"v0", "A:GET A:write B:GET B:write A:GET", explore.Scenario{}, explore.ErrStale,
			"nothing more can happen at this point"},
		"bad scenario": {"v0", "A:GET", explore.Scenario{Actors: 30}, nil, "actors: 30; it takes 1 to 26"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.scenario.Actors == 0 {
				test.scenario.Actors = 2
			}
			replayed, err := explore.Replay(find(t, test.lock), test.scenario, test.schedule)
			if err == nil || !strings.Contains(err.Error(), test.says) || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("%v; want %v that says %q", err, test.want, test.says)
			}
			if len(replayed.Shown) > 0 {
				t.Errorf("%+v was shown by a schedule that does not fit", replayed.Shown)
			}
		})
	}
}

// A goroutine of a process that is paused may end when the process goes on: it is no leak.
func TestAPausedGoroutineIsNoLeak(t *testing.T) {
	in := explore.Scenario{Actors: 2, Try: 2, Faults: faults("expiry=1,pause=1").Faults}
	replayed, err := explore.Replay(find(t, "redlock"), in, "A:waits A.node1:SET expiry A.node2:SET A.node1:compareAndDelete "+
		"A.node2:compareAndDelete A.node3:SET/pauses-after")
	if err != nil || len(replayed.Shown) > 0 {
		t.Errorf("%v, %+v; want nothing", err, replayed.Shown)
	}
}

// What came before the step that does not fit is shown.
func TestReplayShowsHowFarItCame(t *testing.T) {
	replayed, err := explore.Replay(find(t, "v4"), explore.Scenario{Actors: 2}, "A:SET A:GET B:DEL")
	if !errors.Is(err, explore.ErrStale) || replayed.Schedule() != "A:SET A:GET" {
		t.Errorf("%v after %q; want two steps, and stale", err, replayed.Schedule())
	}
}

// A command that its client sends twice is known by its order: it sells once, and the schedule says so.
func TestAResentSaleIsSoldOnce(t *testing.T) {
	for lock, schedule := range map[string]string{
		"atomic": "A:take/resent A:take B:take",
		"v0":     "A:GET A:write/resent A:write B:GET B:write",
	} {
		replayed, err := explore.Replay(find(t, lock), faultsOfTwo("resend=1"), schedule)
		if err != nil || len(replayed.Shown) > 0 {
			t.Errorf("%s: %v, %+v; want nothing", lock, err, replayed.Shown)
			continue
		}
		last := replayed.Steps[len(replayed.Steps)-1]
		said := slices.ContainsFunc(replayed.Steps, func(s trace.Step) bool {
			return strings.Contains(s.Says, "the ledger already has A's order: nothing is written")
		})
		if last.Stock != "98" || !said {
			t.Errorf("%s: two sales leave a stock of %s; said: %t", lock, last.Stock, said)
		}
	}
}

// A client that has lost the connection of its WATCH cannot send the transaction again.
func TestATransactionIsNotResent(t *testing.T) {
	replayed, err := explore.Replay(find(t, "optimistic"), faultsOfTwo("resend=1"), "A:WATCH A:GET A:MULTI/resent A:MULTI A:UNWATCH")
	if err != nil || len(replayed.Shown) > 0 {
		t.Fatalf("%v, %+v; want nothing", err, replayed.Shown)
	}
	for step, says := range map[int]string{0: "A watches the stock", 3: "", 4: "A fails: redis did not answer: the outcome is unknown"} {
		if got := replayed.Steps[step].Says; got != says {
			t.Errorf("step %d says %q; want %q", step+1, got, says)
		}
	}
}

func TestEveryStepSaysWhatIsSo(t *testing.T) {
	replayed, err := explore.Replay(find(t, "v4"), faultsOfTwo("crash=1,lost-reply=1"),
		"A:SET B:SET A:GET A:write/lost A:compareAndDelete B:SET B:GET/dies-after")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"A takes the lock | lock: A, for 10s; stock: 100",
		"B finds the lock to be A's | lock: A, for 10s; stock: 100",
		"A reads stock 100 | lock: A, for 10s; stock: 100",
		"A writes stock 99, but never gets the reply | lock: A, for 10s; stock: 99",
		"A gives the lock back; A fails: redis did not answer: the outcome is unknown | no lock; stock: 99",
		"B takes the lock | lock: B, for 10s; stock: 99",
		"B reads stock 99, and dies | lock: B, for 10s; stock: 99",
	}
	for i, step := range replayed.Steps {
		if got := step.Says + " | " + step.State(language.English); got != want[i] {
			t.Errorf("step %d, %s: %q; want %q", i+1, step.Token, got, want[i])
		}
	}
	if len(replayed.Steps) != len(want) || len(replayed.Shown) > 0 {
		t.Errorf("%d steps, shown %v; want %d, and no anomaly", len(replayed.Steps), replayed.Shown, len(want))
	}
}

func faultsOfTwo(text string) explore.Scenario {
	s := faults(text)
	s.Actors = 2
	return s
}
