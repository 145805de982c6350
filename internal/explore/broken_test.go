package explore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/explore"
	"lockstep/internal/lock/evolution"
)

// broken is what README says is still broken, phrase by phrase, and the command that shows it: explore LOCK SCENARIO --anomaly ANOMALY.
// A phrase without one says why.
var broken = []struct {
	lock, phrase string
	scenario     explore.Scenario
	anomaly      explore.Anomaly
	length       int    // steps of the shortest counterexample
	why          string // none shows it
}{
	{lock: "v0", phrase: "lost updates, oversell", anomaly: explore.LostUpdate, length: 4},
	{
		lock: "v1", phrase: "a holder that dies blocks everybody for ever",
		scenario: faults("crash=1"), anomaly: explore.Stuck, length: 3,
	},
	{
		lock: "v2", phrase: "an overdue holder deletes the next one's lock",
		scenario: faults("expiry=1"), anomaly: explore.ForeignRelease, length: 6,
	},
	{
		lock: "v3", phrase: "between the GET and the DEL the lock can change hands",
		scenario: faults("expiry=1"), anomaly: explore.ForeignRelease, length: 7,
	},
	{
		lock: "v4", phrase: "a nested call waits for itself for ever",
		scenario: explore.Scenario{Nested: 1}, anomaly: explore.Stuck, length: 4,
	},
	{
		lock: "v5", phrase: "work longer than the expiry: two holders",
		scenario: working(explore.Scenario{}), anomaly: explore.TwoHolders, length: 5,
	},
	{
		lock: "v6", phrase: "a paused process writes late",
		scenario: faults("pause=1"), anomaly: explore.LostUpdate, length: 11, // its start is a step
	},
	{lock: "v6", phrase: "waiters poll: a storm of commands, and starvation", why: costs},
	{
		lock: "v6", phrase: "waiters poll: a storm of commands, and starvation",
		scenario: explore.Scenario{Sales: 3}, anomaly: explore.Starved, length: 10,
	},
	{lock: "v6", phrase: "failover", scenario: faults("failover=1"), anomaly: explore.TwoHolders, length: 3},
	{lock: "v6", phrase: "failover", scenario: faults("failover=1"), anomaly: explore.LostUpdate, length: 7},
	{lock: "v7", phrase: "waiters poll: a storm of commands, starvation, no order", why: costs},
	{
		lock: "v7", phrase: "waiters poll: a storm of commands, starvation, no order",
		scenario: explore.Scenario{Sales: 3}, anomaly: explore.Starved, length: 10,
	},
	{lock: "v7", phrase: "failover", scenario: faults("failover=1"), anomaly: explore.TwoHolders, length: 3},
	{lock: "v7", phrase: "failover", scenario: faults("failover=1"), anomaly: explore.LostUpdate, length: 7}, // with the same token
	{
		lock: "v8", phrase: "between processes: polling, in no order",
		scenario: explore.Scenario{Sales: 3}, anomaly: explore.Starved, length: 10,
	},
	{lock: "v8", phrase: "failover", scenario: faults("failover=1"), anomaly: explore.TwoHolders, length: 3},
	{lock: "v8", phrase: "failover", scenario: faults("failover=1"), anomaly: explore.LostUpdate, length: 7},
	{
		lock: "v9", phrase: "a failover forgets the lock",
		scenario: faults("failover=1"), anomaly: explore.TwoHolders, length: 3,
	},
	{
		lock: "v9", phrase: "a failover forgets the lock",
		scenario: faults("failover=1"), anomaly: explore.LostUpdate, length: 7,
	},
	{lock: "v9", phrase: "a buyer alone pays two round trips for a lock that nobody else wants", why: costs},
	{
		lock: "v10", phrase: "a failover forgets the lock",
		scenario: faults("failover=1"), anomaly: explore.TwoHolders, length: 5, // with the starts of two who listen
	},
	{
		lock: "v10", phrase: "a failover forgets the lock",
		scenario: faults("failover=1"), anomaly: explore.LostUpdate, length: 9,
	},
	{
		lock: "v10", phrase: "the others wait for a keeper that died, as for any holder",
		why: "they wait for one expiry and a quarter, and not for ever",
	},
	{
		lock: "redlock", phrase: "no fencing, no order between processes",
		scenario: faults("redis-clock=1"), anomaly: explore.LostUpdate, length: 12, // which v7's tokens prevent
	},
	{
		lock: "redlock", phrase: "no fencing, no order between processes",
		scenario: explore.Scenario{Sales: 3}, anomaly: explore.Starved, length: 13,
	},
	{
		lock: "redlock", phrase: "a node that restarts empty",
		scenario: faults("node-restart=1"), anomaly: explore.TwoHolders, length: 8,
	},
	{lock: "redlock", phrase: "clocks", scenario: faults("redis-clock=1"), anomaly: explore.TwoHolders, length: 8},
	{lock: "local", phrase: "right with one replica, wrong with two", anomaly: explore.LostUpdate, length: 4},
	{lock: "atomic", phrase: "all work of a sale must fit into the script", why: "that is a limit of what can be sold so"},
	{lock: "atomic", phrase: "after a lost reply the buyer is in doubt", why: "the sale says that its outcome is unknown, and that is right"},
	{lock: "optimistic", phrase: "wasted attempts", why: costs},
	{
		lock: "optimistic", phrase: "no order, so the slow lose to the quick",
		why: "it has no lock to wait for, so nobody is seen to be overtaken",
	},
	{
		lock: "late-commit", phrase: "lost updates, though nothing fails: the next holder reads before the write",
		anomaly: explore.LostUpdate, length: 8,
	},
	{
		lock: "setnx-expire", phrase: "a holder that dies between the two leaves a lock for ever",
		scenario: faults("crash=1"), anomaly: explore.LeftBehind, length: 3,
	},
	{
		lock: "lua-setnx", phrase: "an overdue holder deletes the next one's lock, as v2's",
		scenario: faults("expiry=1"), anomaly: explore.ForeignRelease, length: 6,
	},
	{lock: "getset", phrase: "it needs equal clocks", scenario: skewed(), anomaly: explore.TwoHolders, length: 4},
	{lock: "getset", phrase: "it needs equal clocks", scenario: faults("clock-jump=1"), anomaly: explore.TwoHolders, length: 7},
	{
		lock: "getset", phrase: "no owner, so anybody can release",
		scenario: faults("resend=1"), anomaly: explore.ForeignRelease, length: 6,
	},
	{lock: "set-expire", phrase: "everybody gets the lock", anomaly: explore.TwoHolders, length: 4},
	{lock: "setex", phrase: "everybody gets the lock", anomaly: explore.TwoHolders, length: 2},
}

const costs = "what a lock costs is no anomaly"

// Whatever README says is still broken can be seen.
func TestWhatIsStillBroken(t *testing.T) {
	phrases := map[string][]string{}
	for _, b := range broken {
		if !slices.Contains(phrases[b.lock], b.phrase) {
			phrases[b.lock] = append(phrases[b.lock], b.phrase)
		}
		if (b.why == "") != (b.length > 0) {
			t.Errorf("%s, %s: %d steps, %q; want one of the two", b.lock, b.phrase, b.length, b.why)
		}
		if b.why != "" {
			continue
		}
		b.scenario.Actors = 2
		t.Run(fmt.Sprintf("%s %s --anomaly %s", b.lock, b.scenario, b.anomaly), func(t *testing.T) {
			t.Parallel()
			strategy, goal := find(t, b.lock), explore.Goal{Anomalies: []explore.Anomaly{b.anomaly}}
			result, err := explore.Explore(t.Context(), strategy, b.scenario, goal, bounds(b.anomaly))
			if err != nil {
				t.Fatal(err)
			}
			if shortened(result) {
				return
			}
			if result.Verdict() != explore.Broken || result.Found[0].Length != b.length {
				t.Fatalf("%s: %+v; want %s in %d steps", result.Verdict(), result.Found, b.anomaly, b.length)
			}
			replayed(t, strategy, b.scenario, result.Found[0], 3)
		})
	}
	for _, s := range evolution.Table() {
		if said := strings.Join(phrases[s.Name], "; "); said != s.StillBroken {
			t.Errorf("%s: %q is looked at; README says %q", s.Name, said, s.StillBroken)
		}
	}
}
