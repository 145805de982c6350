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

// claims are what is said of the strategies: in their docs, in README as still broken, and in the lectures given with them. What break-it
// says is run by package checkout, what lockstep explore --all says is in package oracle, and that all of README has a cell in package lab.
// Beside each that takes long there is a smaller one: with fewer actors, fewer nodes, or actors who try once.
var claims = []struct {
	lock, flags string
	scenario    explore.Scenario
	anomaly     explore.Anomaly // the one looked for; "": all
	shows       explore.Anomaly // "": never
	length      int             // steps of the shortest counterexample
	long        bool            // it takes several seconds
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
	{lock: "v7", scenario: of(3, 0, "pause=1"), anomaly: anomaly.LostUpdate, long: true},
	{lock: "v7", scenario: of(3, 0, "expiry=1"), anomaly: anomaly.LostUpdate, long: true},
	{lock: "v8", scenario: explore.Scenario{Replicas: 1, Sales: 3}, anomaly: anomaly.Starved},
	{lock: "v9", scenario: explore.Scenario{Replicas: 1, Sales: 3}, anomaly: anomaly.Starved},
	{lock: "v9"},
	{lock: "v9", scenario: of(2, 1, "")},
	{lock: "v9", scenario: of(3, 2, "")},
	{lock: "v9", scenario: of(4, 2, ""), long: true},
	{lock: "v9", scenario: faults("crash=1,lost-reply=1")},
	{lock: "v9", scenario: of(2, 1, "crash=1,lost-reply=1")},
	{lock: "v9", scenario: of(3, 1, "crash=1,lost-reply=1"), long: true},
	{lock: "v9", scenario: of(3, 2, "crash=1,lost-reply=1"), long: true},
	{lock: "v9", scenario: of(3, 1, "cancel=2"), long: true},
	{lock: "v9", scenario: of(3, 2, "cancel=2"), long: true},
	{lock: "v10"},
	{lock: "v10", scenario: of(2, 1, "")},
	{lock: "v10", scenario: faults("lost-wake=1,crash=1,lost-reply=1")},
	{lock: "v10", scenario: of(3, 0, "lost-wake=1,crash=1,lost-reply=1"), long: true},
	{lock: "v10", scenario: of(2, 1, "crash=1,lost-reply=1")},
	{lock: "v10", scenario: of(3, 1, "crash=1,lost-reply=1"), long: true},
	{lock: "v10", scenario: of(3, 1, "cancel=2"), long: true},
	{lock: "v10", scenario: of(3, 2, "cancel=1"), long: true},
	{lock: "v10", scenario: of(3, 2, "")},
	{lock: "v10", scenario: of(3, 1, "pause=1"), anomaly: anomaly.LostUpdate, long: true},
	{lock: "v11"},                                                // also with a message to the keeper that is late: it comes at any time
	{lock: "v11", scenario: of(2, 1, "")},                        // the second sale has the lock that its process kept
	{lock: "v11", scenario: faults("crash=1")},                   // also of the keeper
	{lock: "v11", scenario: faults("lost-wake=1")},               // also of the message that asks the keeper
	{lock: "v11", scenario: of(3, 0, "lost-wake=1"), long: true}, // two ask
	{lock: "v11", scenario: faults("lost-wake=1,crash=1,lost-reply=1")},
	{lock: "v11", scenario: of(2, 1, "crash=1,lost-reply=1")},
	{lock: "v11", scenario: of(3, 1, "crash=1,lost-reply=1")},
	{lock: "v11", scenario: of(3, 1, "cancel=2")},
	{lock: "v11", scenario: of(3, 2, "lost-wake=1"), long: true}, // also with none
	{lock: "delex"},
	{lock: "delex", scenario: faults("crash=1")},
	{lock: "delex", scenario: faults("expiry=2"), anomaly: anomaly.ForeignRelease},
	{lock: "delex", scenario: faults("lost-reply=1"), anomaly: anomaly.Idle},
	{lock: "redlock", scenario: explore.Scenario{Try: 2}},
	{lock: "redlock", long: true},
	{lock: "redlock", scenario: explore.Scenario{Try: 2, Faults: faults("crash=1").Faults}},
	{lock: "redlock", scenario: faults("crash=1"), long: true}, // time frees it
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
	{lock: "redlock", scenario: of(3, 1, "")},
	{lock: "redlock", scenario: explore.Scenario{Nodes: 1, Faults: faults("cancel=1").Faults}},
	{lock: "atomic", scenario: faults("pause=1,crash=1,lost-reply=1")},
	{lock: "atomic", scenario: faults("resend=2,late=1,lost-reply=1"), anomaly: anomaly.DoubleSale}, // the ledger knows the order
	{lock: "optimistic", scenario: faults("resend=1,late=1,lost-reply=1"), anomaly: anomaly.DoubleSale},
	{lock: "non-idempotent", scenario: faults("late=1,lost-reply=1")}, // nothing is sent twice
	{lock: "segmented", scenario: nested(faults("crash=1"))},
	{lock: "segmented", scenario: of(3, 1, ""), long: true},
	{lock: "optimistic", scenario: explore.Scenario{Actors: 3, Faults: faults("cancel=1").Faults}},
	{lock: "v4", scenario: faults("lost-reply=1"), anomaly: anomaly.Idle},                                   // which it takes back
	{lock: "v4", scenario: faults("lost-request=1"), anomaly: anomaly.Idle, shows: anomaly.Idle, length: 5}, // of the release
	{lock: "v6", scenario: faults("lost-reply=1"), anomaly: anomaly.Idle},
	{lock: "v7", scenario: faults("failover=1"), anomaly: anomaly.TokenOrder, shows: anomaly.TokenOrder, length: 3},
	{lock: "local", scenario: explore.Scenario{Replicas: 1, Sales: 3}, anomaly: anomaly.Starved},
	{lock: "late-commit", anomaly: anomaly.TwoHolders},
	{lock: "getset"},
	{lock: "getset", scenario: explore.Scenario{Actors: 3}},
	{lock: "getset", scenario: explore.Scenario{Actors: 3, Faults: faults("crash=1").Faults}, long: true}, // Redis knows of none
	{lock: "getset", scenario: faults("lost-reply=1,cancel=1"), anomaly: anomaly.TwoHolders},
	{lock: "getset", scenario: faults("lost-reply=1,cancel=1"), anomaly: anomaly.LeftBehind},
	{lock: "getset", scenario: faults("lost-reply=1,cancel=1"), anomaly: anomaly.Stuck},
	{lock: "getset", scenario: explore.Scenario{Skew: 4 * time.Second, Faults: faults("crash=1").Faults}}, // twice that: less than the expiry
	{lock: "getset", scenario: explore.Scenario{Skew: 15 * time.Second, Faults: faults("crash=1").Faults}, anomaly: anomaly.LeftBehind},
	{lock: "getset", scenario: explore.Scenario{Skew: 15 * time.Second, Faults: faults("crash=1").Faults}, anomaly: anomaly.Stuck},
	{lock: "getset", scenario: working(explore.Scenario{}), shows: anomaly.TwoHolders, length: 8},
	{lock: "getset", scenario: faults("pause=1"), anomaly: anomaly.TwoHolders, shows: anomaly.TwoHolders, length: 9}, // with its start
	{lock: "v4", scenario: skewed()}, // whose expiry is Redis's
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
}

func faults(text string) explore.Scenario {
	f, err := explore.ParseFaults(text)
	if err != nil {
		panic(err)
	}
	return explore.Scenario{Faults: f}
}

// of are actors in so many processes; 0: one each.
func of(actors, processes int, text string) explore.Scenario {
	s := faults(text)
	s.Actors, s.Replicas = actors, processes
	return s
}

func skewed() explore.Scenario { return explore.Scenario{Skew: 15 * time.Second} }

func nested(s explore.Scenario) explore.Scenario {
	s.Nested = 1
	return s
}

func working(s explore.Scenario) explore.Scenario {
	s.Work = 25 * time.Second
	return s
}

func TestTheClaims(t *testing.T) {
	for _, claim := range claims {
		if claim.scenario.Actors == 0 {
			claim.scenario.Actors = 2
		}
		t.Run(fmt.Sprintf("%s %s %s", claim.lock, claim.scenario, claim.anomaly), func(t *testing.T) {
			if claim.long {
				suite.LongOnly(t, "the claim beside it is the same in small")
			}
			if claim.length > 12 {
				suite.LongOnly(t, "others show the same in fewer steps")
			}
			shows(t, find(t, claim.lock), claim.scenario, claim.anomaly, claim.shows, claim.length)
		})
	}
}

// bounds are none in the long suite, nor for what has to be shown. That nothing is ever shown is seen in the quick suite up to some
// length: in as many schedules as fit, the shortest first. With -short all is left after a few: the race detector makes each of them
// slow, and these have all the goroutines that there are.
func bounds(shows explore.Anomaly) explore.Bounds {
	switch {
	case testing.Short():
		return explore.Bounds{Schedules: 30}
	case shows == "" && !suite.Long:
		return explore.Bounds{Schedules: 150}
	default:
		return explore.Bounds{}
	}
}

// shortened reports whether a bound ended the exploration before it showed anything, so that nothing is known of the other schedules.
func shortened(r explore.Result) bool { return !suite.Long && r.Bound() != "" && len(r.Found) == 0 }

// replayed sees that a counterexample shows the same anomaly, in its last step and each time.
func replayed(t *testing.T, strategy strategy.Strategy, scenario explore.Scenario, found explore.Recording, times int) {
	t.Helper()
	for range times {
		again, err := explore.Replay(strategy, scenario, found.Schedule())
		if err != nil {
			t.Fatalf("%s: %v", found.Schedule(), err)
		}
		same := func(b explore.Shown) bool {
			return b.Anomaly == found.Anomaly() && b.Step == found.Length() && b.Says == found.Verdict
		}
		if !slices.ContainsFunc(again.Shown, same) || again.Schedule() != found.Schedule() {
			t.Fatalf("%s: %+v; want %s at the end", found.Schedule(), again.Shown, found.Anomaly())
		}
	}
}

func find(t testing.TB, name string) strategy.Strategy {
	t.Helper()
	strategy, err := evolution.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return strategy
}

// Neither which node is which, nor in which order they answer, changes what is found.
func TestNodesAreAlike(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes under the race detector, and has no more goroutines than the other tests")
	}
	for fault, nodes := range map[string]int{"": 2, "node-crash=1": 2, "node-restart=1": 3} { // with more, it takes minutes
		t.Run(fault, func(t *testing.T) {
			scenario := explore.Scenario{Actors: 2, Try: 2, Nodes: nodes, Faults: faults(fault).Faults}
			var verdicts []string
			for _, bounds := range []explore.Bounds{{}, {EverySymmetry: true}} {
				result, err := explore.Explore(t.Context(), find(t, "redlock"), scenario, explore.Goal{}, bounds)
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
				t.Errorf("%s; with every order of every node: %s", verdicts[0], verdicts[1])
			}
		})
	}
}

// Three who do nothing unusual, too.
func TestTheCutsAreSoundForThree(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute under the race detector, and has no more goroutines than the other tests")
	}
	for _, name := range []string{"v0", "v1"} {
		t.Run(name, func(t *testing.T) {
			result, err := explore.Explore(t.Context(), find(t, name), explore.Scenario{Actors: 3}, explore.Goal{All: true},
				explore.Bounds{EveryState: true, EverySymmetry: true})
			if err != nil {
				t.Fatal(err)
			}
			if broken := len(result.Found) > 0; broken != (name == "v0") || !result.Complete {
				t.Errorf("%+v", result)
			}
			t.Logf("%d schedules", result.Schedules)
		})
	}
}

// However many workers there are, they find the same.
func TestWorkersDoNotMatter(t *testing.T) {
	scenario := explore.Scenario{Actors: 2, Faults: faults("expiry=1").Faults}
	switch {
	case suite.Long:
		scenario.Actors = 3 // many more schedules
	case testing.Short():
		scenario.Faults = explore.Faults{} // fewer: the race detector makes each slow
	}
	var first explore.Result
	for _, workers := range []int{1, 2, 7} {
		result, err := explore.Explore(t.Context(), find(t, "v3"), scenario, explore.Goal{All: true}, explore.Bounds{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		result.Seconds = 0
		if workers == 1 {
			first = result
		} else if fmt.Sprint(result) != fmt.Sprint(first) {
			t.Errorf("%d workers: %+v; one worker: %+v", workers, result, first)
		}
	}
}

// A bound that is hit leaves the verdict open.
func TestBounds(t *testing.T) {
	gone, leave := context.WithCancel(t.Context())
	leave()
	for name, test := range map[string]struct {
		ctx    context.Context //nolint:containedctx // of one test
		bounds explore.Bounds
		bound  string
	}{
		"schedules": {t.Context(), explore.Bounds{Schedules: 100}, "100 schedules"},
		"memory":    {t.Context(), explore.Bounds{Memory: 1 << 20}, "1 MB of memory"},
		"time":      {t.Context(), explore.Bounds{Time: time.Nanosecond}, "1ns"},
		"Ctrl-C":    {gone, explore.Bounds{}, "interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := explore.Explore(test.ctx, find(t, "v4"), explore.Scenario{Actors: 4}, explore.Goal{}, test.bounds)
			if err != nil {
				t.Fatal(err)
			}
			if result.Verdict() != verdict.Unknown || result.Bound() != test.bound || result.Complete {
				t.Errorf("%s, bound %q; want unknown, %q", result.Verdict(), result.Bound(), test.bound)
			}
			if test.bounds.Schedules > 0 && (result.Schedules < 100 || result.Schedules > 110) {
				t.Errorf("%d schedules; want 100, and a few that had begun", result.Schedules)
			}
		})
	}
}
