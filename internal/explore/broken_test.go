package explore_test

import (
	"fmt"
	"slices"
	"testing"

	"lockstep/internal/anomaly"
	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/verdict"
)

// broken is what README says is still broken, flaw by flaw, and the command that shows it: explore LOCK SCENARIO --anomaly ANOMALY.
// A flaw without one says why.
var broken = []struct {
	lock, flaw string
	scenario   explore.Scenario
	anomaly    explore.Anomaly
	length     int    // steps of the shortest counterexample
	why        string // none shows it
}{
	{lock: "v0", flaw: "lost-update", anomaly: anomaly.LostUpdate, length: 4},
	{
		lock: "v1", flaw: "holder-dies",
		scenario: faults("crash=1"), anomaly: anomaly.Stuck, length: 3,
	},
	{
		lock: "v2", flaw: "foreign-delete",
		scenario: faults("expiry=1"), anomaly: anomaly.ForeignRelease, length: 6,
	},
	{
		lock: "v3", flaw: "check-then-delete",
		scenario: faults("expiry=1"), anomaly: anomaly.ForeignRelease, length: 7,
	},
	{
		lock: "v4", flaw: "self-deadlock",
		scenario: explore.Scenario{Nested: 1}, anomaly: anomaly.SelfDeadlock, length: 4,
	},
	{
		lock: "v5", flaw: "overdue-work",
		scenario: working(explore.Scenario{}), anomaly: anomaly.TwoHolders, length: 5,
	},
	{
		lock: "v6", flaw: "paused-writer",
		scenario: faults("pause=1"), anomaly: anomaly.LostUpdate, length: 11, // its start is a step
	},
	{lock: "v6", flaw: "polling", why: costs},
	{
		lock: "v6", flaw: "polling",
		scenario: explore.Scenario{Sales: 3}, anomaly: anomaly.Starved, length: 10,
	},
	{lock: "v6", flaw: "failover", scenario: faults("failover=1"), anomaly: anomaly.TwoHolders, length: 3},
	{lock: "v6", flaw: "failover", scenario: faults("failover=1"), anomaly: anomaly.LostUpdate, length: 7},
	{
		lock: "v7", flaw: "paused-holder",
		scenario: faults("pause=1"), anomaly: anomaly.TwoHolders, length: 6,
	},
	{lock: "v7", flaw: "polling", why: costs},
	{
		lock: "v7", flaw: "polling",
		scenario: explore.Scenario{Sales: 3}, anomaly: anomaly.Starved, length: 10,
	},
	{lock: "v7", flaw: "failover", scenario: faults("failover=1"), anomaly: anomaly.TwoHolders, length: 3},
	{lock: "v7", flaw: "failover", scenario: faults("failover=1"), anomaly: anomaly.LostUpdate, length: 7}, // with the same token
	{
		lock: "v8", flaw: "paused-holder",
		scenario: faults("pause=1"), anomaly: anomaly.TwoHolders, length: 6,
	},
	{lock: "v8", flaw: "own-commands", why: costs},
	{
		lock: "v8", flaw: "polling",
		scenario: explore.Scenario{Sales: 3}, anomaly: anomaly.Starved, length: 10,
	},
	{lock: "v8", flaw: "failover", scenario: faults("failover=1"), anomaly: anomaly.TwoHolders, length: 3},
	{lock: "v8", flaw: "failover", scenario: faults("failover=1"), anomaly: anomaly.LostUpdate, length: 7},
	{
		lock: "v9", flaw: "paused-holder",
		scenario: faults("pause=1"), anomaly: anomaly.TwoHolders, length: 6,
	},
	{
		lock: "v9", flaw: "polling",
		scenario: explore.Scenario{Sales: 3}, anomaly: anomaly.Starved, length: 10,
	},
	{lock: "v9", flaw: "failover", scenario: faults("failover=1"), anomaly: anomaly.TwoHolders, length: 3},
	{lock: "v9", flaw: "failover", scenario: faults("failover=1"), anomaly: anomaly.LostUpdate, length: 7},
	{
		lock: "v10", flaw: "paused-holder",
		scenario: faults("pause=1"), anomaly: anomaly.TwoHolders, length: 14,
	},
	{
		lock: "v10", flaw: "failover",
		scenario: faults("failover=1"), anomaly: anomaly.TwoHolders, length: 3,
	},
	{
		lock: "v10", flaw: "failover",
		scenario: faults("failover=1"), anomaly: anomaly.LostUpdate, length: 7,
	},
	{lock: "v10", flaw: "round-trips", why: costs},
	{
		lock: "v11", flaw: "paused-holder",
		scenario: faults("pause=1"), anomaly: anomaly.TwoHolders, length: 15,
	},
	{
		lock: "v11", flaw: "failover",
		scenario: faults("failover=1"), anomaly: anomaly.TwoHolders, length: 5, // with the starts of two who listen
	},
	{
		lock: "v11", flaw: "failover",
		scenario: faults("failover=1"), anomaly: anomaly.LostUpdate, length: 9,
	},
	{
		lock: "v11", flaw: "keeper-dies",
		why: "they wait for one expiry and a quarter, and not for ever",
	},
	{
		lock: "delex", flaw: "self-deadlock",
		scenario: explore.Scenario{Nested: 1}, anomaly: anomaly.SelfDeadlock, length: 4,
	},
	{lock: "delex", flaw: "older-servers", why: "it is not sold on them"},
	{
		lock: "redlock", flaw: "no-fence",
		scenario: faults("redis-clock=1"), anomaly: anomaly.LostUpdate, length: 12, // which v7's tokens prevent
	},
	{
		lock: "redlock", flaw: "no-order",
		scenario: explore.Scenario{Sales: 3}, anomaly: anomaly.Starved, length: 13,
	},
	{
		lock: "redlock", flaw: "empty-restarted-node",
		scenario: faults("node-restart=1"), anomaly: anomaly.TwoHolders, length: 8,
	},
	{lock: "redlock", flaw: "clocks", scenario: faults("redis-clock=1"), anomaly: anomaly.TwoHolders, length: 8},
	{lock: "local", flaw: "lost-update-replicas", anomaly: anomaly.LostUpdate, length: 4},
	{lock: "atomic", flaw: "one-script", why: "that is a limit of what can be sold so"},
	{lock: "optimistic", flaw: "retries", why: costs},
	{
		lock: "optimistic", flaw: "no-order",
		why: "it has no lock to wait for, so nobody is seen to be overtaken",
	},
	{lock: "segmented", flaw: "paused-holder", why: "v11's rows show it: nobody looks at the lock of a segment"},
	{
		lock: "non-idempotent", flaw: "resent-command",
		scenario: faults("resend=1"), anomaly: anomaly.DoubleSale, length: 2,
	},
	{
		lock: "late-commit", flaw: "commit-after-unlock",
		anomaly: anomaly.LostUpdate, length: 8,
	},
	{
		lock: "setnx-expire", flaw: "dies-between-set-and-expire",
		scenario: faults("crash=1"), anomaly: anomaly.LeftBehind, length: 3,
	},
	{
		lock: "lua-setnx", flaw: "foreign-delete",
		scenario: faults("expiry=1"), anomaly: anomaly.ForeignRelease, length: 6,
	},
	{lock: "getset", flaw: "clock-skew", scenario: skewed(), anomaly: anomaly.TwoHolders, length: 4},
	{lock: "getset", flaw: "clock-skew", scenario: faults("clock-jump=1"), anomaly: anomaly.TwoHolders, length: 7},
	{
		lock: "getset", flaw: "no-owner",
		scenario: faults("resend=1"), anomaly: anomaly.ForeignRelease, length: 6,
	},
	{lock: "set-expire", flaw: "no-exclusion", anomaly: anomaly.TwoHolders, length: 4},
	{lock: "setex", flaw: "no-exclusion", anomaly: anomaly.TwoHolders, length: 2},
}

const costs = "what a lock costs is no anomaly"

// Whatever README says is still broken can be seen.
func TestWhatIsStillBroken(t *testing.T) {
	flaws := map[string][]string{}
	for _, b := range broken {
		if !slices.Contains(flaws[b.lock], b.flaw) {
			flaws[b.lock] = append(flaws[b.lock], b.flaw)
		}
		if (b.why == "") != (b.length > 0) {
			t.Errorf("%s, %s: %d steps, %q; want one of the two", b.lock, b.flaw, b.length, b.why)
		}
		if b.why != "" {
			continue
		}
		b.scenario.Actors = 2
		t.Run(fmt.Sprintf("%s %s --anomaly %s", b.lock, b.scenario, b.anomaly), func(t *testing.T) {
			strategy, goal := find(t, b.lock), explore.Goal{Anomalies: []explore.Anomaly{b.anomaly}}
			result, err := explore.Explore(t.Context(), strategy, b.scenario, goal, bounds(b.anomaly))
			if err != nil {
				t.Fatal(err)
			}
			if shortened(result) {
				return
			}
			if result.Verdict() != verdict.Broken || result.Found[0].Length() != b.length {
				t.Fatalf("%s: %+v; want %s in %d steps", result.Verdict(), result.Found, b.anomaly, b.length)
			}
			replayed(t, strategy, b.scenario, result.Found[0], 3)
		})
	}
	for _, s := range evolution.Table() {
		var want []string
		for _, flaw := range s.StillBroken {
			want = append(want, flaw.ID)
		}
		if !slices.Equal(flaws[s.Name], want) {
			t.Errorf("%s: %q is looked at; README says %q", s.Name, flaws[s.Name], want)
		}
	}
}
