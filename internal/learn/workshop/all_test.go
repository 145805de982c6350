package workshop_test

import (
	"testing"

	e01 "lockstep/exercises/01-expiry"
	s01 "lockstep/exercises/01-expiry/solution"
	e02 "lockstep/exercises/02-foreign-delete"
	s02 "lockstep/exercises/02-foreign-delete/solution"
	e03 "lockstep/exercises/03-check-then-delete"
	s03 "lockstep/exercises/03-check-then-delete/solution"
	e04 "lockstep/exercises/04-cancelled-unlock"
	s04 "lockstep/exercises/04-cancelled-unlock/solution"
	e05 "lockstep/exercises/05-nested"
	s05 "lockstep/exercises/05-nested/solution"
	e06 "lockstep/exercises/06-lost-reply"
	s06 "lockstep/exercises/06-lost-reply/solution"
	e07 "lockstep/exercises/07-endless-renewal"
	s07 "lockstep/exercises/07-endless-renewal/solution"
	e08 "lockstep/exercises/08-blind-renewal"
	s08 "lockstep/exercises/08-blind-renewal/solution"
	e09 "lockstep/exercises/09-missed-wakeup"
	s09 "lockstep/exercises/09-missed-wakeup/solution"
	e10 "lockstep/exercises/10-fence"
	s10 "lockstep/exercises/10-fence/solution"
	e11 "lockstep/exercises/11-majority"
	s11 "lockstep/exercises/11-majority/solution"
	e12 "lockstep/exercises/12-token-outside"
	s12 "lockstep/exercises/12-token-outside/solution"
	e13 "lockstep/exercises/13-late-commit"
	s13 "lockstep/exercises/13-late-commit/solution"
	e14 "lockstep/exercises/14-get-then-set"
	s14 "lockstep/exercises/14-get-then-set/solution"
	e15 "lockstep/exercises/15-starvation"
	s15 "lockstep/exercises/15-starvation/solution"
	e16 "lockstep/exercises/16-kept-lock"
	s16 "lockstep/exercises/16-kept-lock/solution"
	e17 "lockstep/exercises/17-without-a-lock"
	s17 "lockstep/exercises/17-without-a-lock/solution"
	e18 "lockstep/exercises/18-untold"
	s18 "lockstep/exercises/18-untold/solution"
	e19 "lockstep/exercises/19-sent-twice"
	s19 "lockstep/exercises/19-sent-twice/solution"
	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/learn/workshop"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/lock/verdict"
	"lockstep/internal/test/suite"
)

// slowest is how long the check of a start may take, beside its compilation.
const slowest = 8 // seconds

// written is an exercise as it is handed out, its solution, and why the lock that is handed out fails.
type written struct {
	start, solution func() strategy.Strategy
	reason          explore.Anomaly
}

// all are the exercises in order.
func all() []written {
	return []written{
		{e01.Strategy, s01.Strategy, anomaly.LeftBehind},
		{e02.Strategy, s02.Strategy, anomaly.ForeignRelease},
		{e03.Strategy, s03.Strategy, anomaly.ForeignRelease},
		{e04.Strategy, s04.Strategy, anomaly.Idle},
		{e05.Strategy, s05.Strategy, anomaly.TwoHolders},
		{e06.Strategy, s06.Strategy, anomaly.Idle},
		{e07.Strategy, s07.Strategy, anomaly.GoroutineLeak},
		{e08.Strategy, s08.Strategy, anomaly.ForeignRelease},
		{e09.Strategy, s09.Strategy, anomaly.Stuck},
		{e10.Strategy, s10.Strategy, anomaly.ForeignRelease},
		{e11.Strategy, s11.Strategy, anomaly.TwoHolders},
		{e12.Strategy, s12.Strategy, anomaly.TokenOrder},
		{e13.Strategy, s13.Strategy, anomaly.LostUpdate},
		{e14.Strategy, s14.Strategy, anomaly.TwoHolders},
		{e15.Strategy, s15.Strategy, anomaly.Starved},
		{e16.Strategy, s16.Strategy, anomaly.Idle},
		{e17.Strategy, s17.Strategy, anomaly.LostUpdate},
		{e18.Strategy, s18.Strategy, anomaly.Untold},
		{e19.Strategy, s19.Strategy, anomaly.DoubleSale},
	}
}

// Every exercise fails for its reason as it is handed out, and its solution meets the claim.
func TestEveryStartFailsAndEverySolutionPasses(t *testing.T) {
	if len(all()) != len(workshop.All()) {
		t.Fatalf("%d exercises are here, and %d have pages", len(all()), len(workshop.All()))
	}
	for i, e := range workshop.All() {
		if !suite.Long && i > 1 { // the others in the long suite
			break
		}
		start := e.Explore(t.Context(), all()[i].start(), language.English)
		if start.State != verdict.NotYet || start.Anomaly != string(all()[i].reason) || start.Seconds > slowest {
			t.Errorf("%s is %s by %s in %.1f s (%s); want %s within %d s",
				e.ID(), start.State, start.Anomaly, start.Seconds, start.Says, all()[i].reason, slowest)
		}
		solution := e.Explore(t.Context(), all()[i].solution(), language.English)
		if solution.State != verdict.Done || solution.Seconds > 3*slowest {
			t.Errorf("the solution of %s is %s after %.1f s, by %s with %s: %s\n%s",
				e.ID(), solution.State, solution.Seconds, solution.Anomaly, solution.Scenario, solution.Says, solution.Diagram)
		}
		t.Logf("%s: start %.1f s, %s/%d; solution %.1f s", e.ID(), start.Seconds, start.Anomaly, start.Length, solution.Seconds)
	}
}
