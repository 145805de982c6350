package explore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"lockstep/internal/anomaly"
	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/strategy"
	"lockstep/internal/test/suite"
	"lockstep/internal/verdict"
)

// claims lists what the documentation, the README and the lectures say about the strategies. Other tests cover the commands in break-it
// (package checkout), the table of lockstep explore --all (package oracle), and the README's table of flaws (package lab). Beside each
// claim that takes long there is a smaller one, with fewer actors, fewer nodes, or actors that try once.
var claims = []struct {
	lock, flags string
	scenario    explore.Scenario
	anomaly     explore.Anomaly // anomaly to look for; "": all
	shows       explore.Anomaly // anomaly of the first counterexample; "": the claim is that none exists
	length      int             // steps of the shortest counterexample; 0: any number
	long        bool            // takes several seconds, so only the long suite checks it
}{
	{lock: "v1"},
	{lock: "v1", scenario: explore.Scenario{Nested: 1}, shows: anomaly.Stuck, length: 4},
	{lock: "v2", scenario: faults("crash=1")},
	{lock: "v4"},
	{lock: "v4", scenario: faults("crash=1")},
	{lock: "v4", scenario: faults("pause=1"), shows: anomaly.TwoHolders, length: 5},
	{lock: "v5", scenario: nested(faults("crash=1"))},
	{lock: "v6", scenario: explore.Scenario{Work: 25 * time.Second}},
	{lock: "v6", scenario: nested(faults("crash=1"))},
	{lock: "v6", scenario: working(nested(faults("crash=1"))), long: true},
	{lock: "v6", scenario: faults("expiry=1"), anomaly: anomaly.TwoHolders},
	{lock: "v7"},
	{lock: "v7", scenario: working(nested(faults("crash=1"))), long: true},
	{lock: "v7", scenario: faults("expiry=1"), anomaly: anomaly.TwoHolders},
	{lock: "v7", scenario: actorsIn(3, 0, "pause=1"), anomaly: anomaly.LostUpdate, long: true},
	{lock: "v7", scenario: actorsIn(3, 0, "expiry=1"), anomaly: anomaly.LostUpdate, long: true},
	{lock: "v8", scenario: explore.Scenario{Replicas: 1, Sales: 3}, anomaly: anomaly.Starved},
	{lock: "v9", scenario: explore.Scenario{Replicas: 1, Sales: 3}, anomaly: anomaly.Starved},
	{lock: "v9"},
	{lock: "v9", scenario: actorsIn(2, 1, "")},
	{lock: "v9", scenario: actorsIn(3, 2, "")},
	{lock: "v9", scenario: actorsIn(4, 2, ""), long: true},
	{lock: "v9", scenario: faults("crash=1,lost-reply=1")},
	{lock: "v9", scenario: actorsIn(2, 1, "crash=1,lost-reply=1")},
	{lock: "v9", scenario: actorsIn(3, 1, "crash=1,lost-reply=1"), long: true},
	{lock: "v9", scenario: actorsIn(3, 2, "crash=1,lost-reply=1"), long: true},
	{lock: "v9", scenario: actorsIn(3, 1, "cancel=2"), long: true},
	{lock: "v9", scenario: actorsIn(3, 2, "cancel=2"), long: true},
	{lock: "v10"},
	{lock: "v10", scenario: actorsIn(2, 1, "")},
	{lock: "v10", scenario: faults("lost-wake=1,crash=1,lost-reply=1")},
	{lock: "v10", scenario: actorsIn(3, 0, "lost-wake=1,crash=1,lost-reply=1"), long: true},
	{lock: "v10", scenario: actorsIn(2, 1, "crash=1,lost-reply=1")},
	{lock: "v10", scenario: actorsIn(3, 1, "crash=1,lost-reply=1"), long: true},
	{lock: "v10", scenario: actorsIn(3, 1, "cancel=2"), long: true},
	{lock: "v10", scenario: actorsIn(3, 2, "cancel=1"), long: true},
	{lock: "v10", scenario: actorsIn(3, 2, "")},
	{lock: "v10", scenario: actorsIn(3, 1, "pause=1"), anomaly: anomaly.LostUpdate, long: true},
	{lock: "v11"}, // also with a late message to the keeper: messages arrive at any time
	{lock: "v11", scenario: actorsIn(2, 1, "")},                        // the second sale gets the lock that its process kept
	{lock: "v11", scenario: faults("crash=1")},                         // the keeper may crash, too
	{lock: "v11", scenario: faults("lost-wake=1")},                     // the message that asks the keeper may be lost, too
	{lock: "v11", scenario: actorsIn(3, 0, "lost-wake=1"), long: true}, // two processes ask
	{lock: "v11", scenario: faults("lost-wake=1,crash=1,lost-reply=1")},
	{lock: "v11", scenario: actorsIn(2, 1, "crash=1,lost-reply=1")},
	{lock: "v11", scenario: actorsIn(3, 1, "crash=1,lost-reply=1")},
	{lock: "v11", scenario: actorsIn(3, 1, "cancel=2")},
	{lock: "v11", scenario: actorsIn(3, 2, "lost-wake=1"), long: true}, // also covers no lost message
	{lock: "delex"},
	{lock: "delex", scenario: faults("crash=1")},
	{lock: "delex", scenario: faults("expiry=2"), anomaly: anomaly.ForeignRelease},
	{lock: "delex", scenario: faults("lost-reply=1"), anomaly: anomaly.Idle},
	{lock: "redlock", scenario: explore.Scenario{Try: 2}},
	{lock: "redlock", long: true},
	{lock: "redlock", scenario: explore.Scenario{Try: 2, Faults: faults("crash=1").Faults}},
	{lock: "redlock", scenario: faults("crash=1"), long: true}, // the expiry frees the lock
	{lock: "redlock", scenario: explore.Scenario{Try: 2, Faults: faults("node-crash=1").Faults}},
	{lock: "redlock", scenario: faults("node-crash=1"), long: true},
	{lock: "redlock", scenario: explore.Scenario{Try: 2, Faults: faults("node-hang=1").Faults}},
	{lock: "redlock", scenario: faults("node-hang=1"), long: true},
	{lock: "redlock", scenario: explore.Scenario{Try: 2, Nodes: 2, Faults: faults("lost-reply=1").Faults}},
	{lock: "redlock", scenario: explore.Scenario{Try: 2, Faults: faults("lost-reply=1").Faults}, long: true},
	{
		lock: "redlock", scenario: explore.Scenario{Nodes: 2, Faults: faults("pause=1").Faults},
		shows: anomaly.TwoHolders, length: 13,
	},
	{lock: "redlock", scenario: actorsIn(3, 1, "")},
	{lock: "redlock", scenario: explore.Scenario{Nodes: 1, Faults: faults("cancel=1").Faults}},
	{lock: "atomic", scenario: faults("pause=1,crash=1,lost-reply=1")},
	{lock: "atomic", scenario: faults("resend=2,late=1,lost-reply=1"), anomaly: anomaly.DoubleSale}, // the ledger recognizes a repeated order
	{lock: "optimistic", scenario: faults("resend=1,late=1,lost-reply=1"), anomaly: anomaly.DoubleSale},
	{lock: "non-idempotent", scenario: faults("late=1,lost-reply=1")}, // no command is sent twice
	{lock: "segmented", scenario: nested(faults("crash=1"))},
	{lock: "segmented", scenario: actorsIn(3, 1, ""), long: true},
	{lock: "optimistic", scenario: explore.Scenario{Actors: 3, Faults: faults("cancel=1").Faults}},
	{lock: "v4", scenario: faults("lost-reply=1"), anomaly: anomaly.Idle},                                   // v4 removes the lock
	{lock: "v4", scenario: faults("lost-request=1"), anomaly: anomaly.Idle, shows: anomaly.Idle, length: 5}, // the release is lost
	{lock: "v6", scenario: faults("lost-reply=1"), anomaly: anomaly.Idle},
	{lock: "v7", scenario: faults("rollback=1"), anomaly: anomaly.LostUpdate}, // tokens follow the time
	{lock: "v7", scenario: faults("failover=1"), anomaly: anomaly.TokenOrder, shows: anomaly.TokenOrder, length: 3},
	{lock: "local", scenario: explore.Scenario{Replicas: 1, Sales: 3}, anomaly: anomaly.Starved},
	{lock: "late-commit", anomaly: anomaly.TwoHolders},
	{lock: "getset"},
	{lock: "getset", scenario: faults("crash=1")},
	{lock: "lua-setnx", scenario: faults("crash=1")},
	{lock: "getset", scenario: explore.Scenario{Actors: 3}},
	{lock: "getset", scenario: explore.Scenario{Actors: 3, Faults: faults("crash=1").Faults}, long: true}, // Redis has no expiry of this lock
	{lock: "getset", scenario: faults("lost-reply=1,cancel=1"), anomaly: anomaly.TwoHolders},
	{lock: "getset", scenario: faults("lost-reply=1,cancel=1"), anomaly: anomaly.LeftBehind},
	{lock: "getset", scenario: faults("lost-reply=1,cancel=1"), anomaly: anomaly.Stuck},
	{lock: "getset", scenario: explore.Scenario{Skew: 4 * time.Second, Faults: faults("crash=1").Faults}}, // 2 × skew < expiry
	{lock: "getset", scenario: explore.Scenario{Skew: 15 * time.Second, Faults: faults("crash=1").Faults}, anomaly: anomaly.LeftBehind},
	{lock: "getset", scenario: explore.Scenario{Skew: 15 * time.Second, Faults: faults("crash=1").Faults}, anomaly: anomaly.Stuck},
	{lock: "getset", scenario: working(explore.Scenario{}), shows: anomaly.TwoHolders, length: 8},
	{lock: "getset", scenario: faults("pause=1"), anomaly: anomaly.TwoHolders, shows: anomaly.TwoHolders, length: 9}, // a start is a step
	{lock: "v4", scenario: skewed()}, // the expiry depends on Redis's clock alone
	{lock: "v6", scenario: skewed()},
	{lock: "local", scenario: explore.Scenario{Replicas: 1}},
	{lock: "v6", scenario: explore.Scenario{Sales: 3}, anomaly: anomaly.Starved, shows: anomaly.Starved, length: 10},
	{lock: "v7", scenario: explore.Scenario{Sales: 3}, anomaly: anomaly.Starved, shows: anomaly.Starved, length: 10},
	{lock: "v8", scenario: explore.Scenario{Sales: 3}, anomaly: anomaly.Starved, shows: anomaly.Starved, length: 10},
	{lock: "v9", scenario: explore.Scenario{Sales: 3}, anomaly: anomaly.Starved, shows: anomaly.Starved, length: 10},
	{lock: "redlock", scenario: explore.Scenario{Sales: 3}, anomaly: anomaly.Starved, shows: anomaly.Starved, length: 13},
	{lock: "v6", scenario: faults("failover=1"), anomaly: anomaly.TwoHolders, shows: anomaly.TwoHolders, length: 3},
	{lock: "v6", scenario: faults("failover=1"), anomaly: anomaly.LostUpdate, shows: anomaly.LostUpdate, length: 7},
	{lock: "v7", scenario: faults("failover=1"), anomaly: anomaly.TwoHolders, shows: anomaly.TwoHolders, length: 3},
	{lock: "v8", scenario: faults("failover=1"), anomaly: anomaly.TwoHolders, shows: anomaly.TwoHolders, length: 3},
	{lock: "v8", scenario: faults("failover=1"), anomaly: anomaly.LostUpdate, shows: anomaly.LostUpdate, length: 7},
	{lock: "v9", scenario: faults("failover=1"), anomaly: anomaly.TwoHolders, shows: anomaly.TwoHolders, length: 3},
	{lock: "v9", scenario: faults("failover=1"), anomaly: anomaly.LostUpdate, shows: anomaly.LostUpdate, length: 7},
	{lock: "v10", scenario: faults("failover=1"), anomaly: anomaly.TwoHolders, shows: anomaly.TwoHolders, length: 3},
	{lock: "v10", scenario: faults("failover=1"), anomaly: anomaly.LostUpdate, shows: anomaly.LostUpdate, length: 7},
	{lock: "v11", scenario: faults("failover=1"), anomaly: anomaly.TwoHolders, shows: anomaly.TwoHolders, length: 5},
	{lock: "v11", scenario: faults("failover=1"), anomaly: anomaly.LostUpdate, shows: anomaly.LostUpdate, length: 9},
	{lock: "redlock", scenario: faults("redis-clock=1"), anomaly: anomaly.LostUpdate, shows: anomaly.LostUpdate, length: 12},
	{lock: "getset", scenario: faults("resend=1"), anomaly: anomaly.ForeignRelease, shows: anomaly.ForeignRelease, length: 6},
	{lock: "v1", scenario: faults("lost-request=1"), shows: anomaly.LeftBehind, length: 6}, // the DEL is lost
	{lock: "v4", scenario: explore.Scenario{Actors: 1, Nested: 1}, anomaly: anomaly.Untold, shows: anomaly.Untold, length: 7},
	{lock: "v9", scenario: actorsIn(3, 1, "cancel=1")}, // a buyer may leave the queue at any moment
	{lock: "v6", scenario: faults("resend=1")}, // a process counts its nested calls itself
	{lock: "v6", scenario: faults("rollback=1"), shows: anomaly.TwoHolders, length: 3},
	{lock: "v7", scenario: faults("evict=1"), anomaly: anomaly.LostUpdate}, // the last token has no expiry
}

// faults returns a scenario with these fault budgets.
func faults(text string) explore.Scenario {
	f, err := explore.ParseFaults(text)
	if err != nil {
		panic(err)
	}
	return explore.Scenario{Faults: f}
}

// actorsIn returns a scenario with so many actors in so many processes, and these faults. With 0 processes, each actor has one of its own.
func actorsIn(actors, processes int, text string) explore.Scenario {
	s := faults(text)
	s.Actors, s.Replicas = actors, processes
	return s
}

// skewed returns a scenario in which the clocks differ by more than the lock's expiry.
func skewed() explore.Scenario { return explore.Scenario{Skew: 15 * time.Second} }

// nested adds a nested call of Lock to each sale of a scenario.
func nested(s explore.Scenario) explore.Scenario {
	s.Nested = 1
	return s
}

// working makes each sale of a scenario work for longer than the lock's expiry.
func working(s explore.Scenario) explore.Scenario {
	s.Work = 25 * time.Second
	return s
}

// Every claim about a strategy is true: the first counterexample shows the claimed anomaly, or none exists.
func TestStrategiesKeepTheirClaims(t *testing.T) {
	for _, claim := range claims {
		if claim.scenario.Actors == 0 {
			claim.scenario.Actors = 2
		}
		t.Run(fmt.Sprintf("%s %s %s", claim.lock, claim.scenario, claim.anomaly), func(t *testing.T) {
			if claim.long {
				suite.LongOnly(t, "a smaller claim beside it covers the same")
			}
			if claim.length > 12 {
				suite.LongOnly(t, "other claims show the same anomaly in fewer steps")
			}
			checkShows(t, findStrategy(t, claim.lock), claim.scenario, claim.anomaly, claim.shows, claim.length)
		})
	}
}

// suiteBounds returns the bounds of an exploration that looks for an anomaly, or, with "", for none. The long suite has no bounds, and
// neither has an exploration that must show an anomaly. Otherwise the quick suite explores only the shortest schedules. With -short it
// explores just a few: the race detector makes each of them slow, and these few already have all goroutines.
func suiteBounds(shows explore.Anomaly) explore.Bounds {
	switch {
	case testing.Short():
		return explore.Bounds{Schedules: 30}
	case shows == "" && !suite.Long:
		return explore.Bounds{Schedules: 150}
	default:
		return explore.Bounds{}
	}
}

// isEndedByBound reports whether a bound ended the exploration before it showed an anomaly, so that its verdict says nothing.
func isEndedByBound(r explore.Result) bool {
	return !suite.Long && r.Bound() != "" && len(r.Found) == 0
}

// checkReplays checks that a counterexample shows its anomaly in the last step, each time that it is replayed.
func checkReplays(t *testing.T, strategy strategy.Strategy, scenario explore.Scenario, found explore.Recording, times int) {
	t.Helper()
	for range times {
		again, err := explore.Replay(strategy, scenario, found.Schedule())
		if err != nil {
			t.Fatalf("%s: %v", found.Schedule(), err)
		}
		isSameHit := func(b explore.AnomalyHit) bool {
			return b.Anomaly == found.Anomaly() && b.Step == found.Length() && b.Says == found.Verdict
		}
		if !slices.ContainsFunc(again.Hits, isSameHit) || again.Schedule() != found.Schedule() {
			t.Fatalf("%s: got %+v; want %s in the last step", found.Schedule(), again.Hits, found.Anomaly())
		}
	}
}

// findStrategy returns a strategy of the evolution by its name.
func findStrategy(t testing.TB, name string) strategy.Strategy {
	t.Helper()
	strategy, err := evolution.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return strategy
}

// Treating nodes as interchangeable, in their names and in the order of their answers, does not change the result.
func TestNodeSymmetryDoesNotChangeResults(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes under the race detector, and has no more goroutines than the other tests")
	}
	for fault, nodes := range map[string]int{"": 2, "node-crash=1": 2, "node-restart=1": 3} { // more nodes take minutes
		t.Run(fault, func(t *testing.T) {
			scenario := explore.Scenario{Actors: 2, Try: 2, Nodes: nodes, Faults: faults(fault).Faults}
			var verdicts []string
			for _, bounds := range []explore.Bounds{{}, {EverySymmetry: true}} {
				result, err := explore.Explore(t.Context(), findStrategy(t, "redlock"), scenario, explore.Goal{}, bounds)
				if err != nil {
					t.Fatal(err)
				}
				verdict := string(result.Verdict())
				for _, e := range result.Found {
					verdict += fmt.Sprintf(" %s in %d steps", e.Anomaly(), e.Length())
				}
				verdicts = append(verdicts, verdict)
				t.Logf("%s after %d schedules", verdict, result.Schedules)
			}
			if verdicts[0] != verdicts[1] {
				t.Errorf("got %s; want %s, as with every order of the nodes", verdicts[0], verdicts[1])
			}
		})
	}
}

// With three actors and no faults, an exploration without cuts has the known result: v0 is broken, and v1 is not.
func TestThreeActorsHaveSameResultsWithoutCuts(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute under the race detector, and has no more goroutines than the other tests")
	}
	for _, name := range []string{"v0", "v1"} {
		t.Run(name, func(t *testing.T) {
			result, err := explore.Explore(t.Context(), findStrategy(t, name), explore.Scenario{Actors: 3}, explore.Goal{All: true},
				explore.Bounds{EveryState: true, EverySymmetry: true})
			if err != nil {
				t.Fatal(err)
			}
			if broken := len(result.Found) > 0; broken != (name == "v0") || !result.Complete {
				t.Errorf("got %s, complete: %t; want %s to be broken: %t", result.Verdict(), result.Complete, name, name == "v0")
			}
			t.Logf("%d schedules", result.Schedules)
		})
	}
}

// The number of workers does not change the result.
func TestResultDoesNotDependOnWorkers(t *testing.T) {
	scenario := explore.Scenario{Actors: 2, Faults: faults("expiry=1").Faults}
	switch {
	case suite.Long:
		scenario.Actors = 3 // explores many more schedules
	case testing.Short():
		scenario.Faults = explore.Faults{} // explores fewer schedules: the race detector makes each slow
	}
	var first explore.Result
	for _, workers := range []int{1, 2, 7} {
		result, err := explore.Explore(t.Context(), findStrategy(t, "v3"), scenario, explore.Goal{All: true}, explore.Bounds{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		result.Seconds = 0
		if workers == 1 {
			first = result
		} else if fmt.Sprint(result) != fmt.Sprint(first) {
			t.Errorf("%d workers: got %+v; want %+v, as with one worker", workers, result, first)
		}
	}
}

// A bound that ends the exploration makes the verdict unknown, and the result says which bound it was.
func TestBoundLeavesVerdictUnknown(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx    context.Context //nolint:containedctx // differs between the cases
		bounds explore.Bounds
		bound  string
	}{
		"schedules": {ctx: t.Context(), bounds: explore.Bounds{Schedules: 100}, bound: "100 schedules"},
		"memory":    {ctx: t.Context(), bounds: explore.Bounds{Memory: 1 << 20}, bound: "1 MB of memory"},
		"time":      {ctx: t.Context(), bounds: explore.Bounds{Time: time.Nanosecond}, bound: "1ns"},
		"Ctrl-C":    {ctx: cancelled, bound: "interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := explore.Explore(test.ctx, findStrategy(t, "v4"), explore.Scenario{Actors: 4}, explore.Goal{}, test.bounds)
			if err != nil {
				t.Fatal(err)
			}
			if result.Verdict() != verdict.Unknown || result.Bound() != test.bound || result.Complete {
				t.Errorf("got %s, bound %q; want unknown, %q", result.Verdict(), result.Bound(), test.bound)
			}
			if test.bounds.Schedules > 0 && (result.Schedules < 100 || result.Schedules > 110) {
				t.Errorf("got %d schedules; want 100, and a few that workers had begun", result.Schedules)
			}
		})
	}
}
