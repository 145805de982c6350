package session_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/anomaly"
	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
	"lockstep/internal/strategy"
	"lockstep/internal/test/suite"
)

// find returns the strategy with a name.
func find(t testing.TB, lock string) strategy.Strategy {
	t.Helper()
	s, err := evolution.Find(lock)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// with returns a scenario of two actors with faults and nested calls.
func with(t *testing.T, faults string, nested int) explore.Scenario {
	t.Helper()
	budgets, err := explore.ParseFaults(faults)
	if err != nil {
		t.Fatal(err)
	}
	return explore.Scenario{Actors: 2, Nested: nested, Faults: budgets}
}

// notInShort skips every lock but v0 with -short, which runs with the slow race detector: v0 starts all kinds of goroutines.
func notInShort(t *testing.T, lock string) {
	t.Helper()
	if testing.Short() && lock != "v0" {
		t.Skip("not with -short: v0 has the same goroutines")
	}
}

func TestExplainFindsPointOfNoReturn(t *testing.T) {
	for _, test := range []struct {
		lock, faults string
		nested       int
		anomaly      explore.Anomaly
		schedule     string
		point, turn  int    // wanted steps: the point of no return, and the enabling fault
		saves        string // wanted first step that would avoid the anomaly
	}{
		{"v0", "", 0, anomaly.LostUpdate, "A:GET B:GET A:write B:write", 2, 0, "A:write"}, // both have read the stock
		{"v1", "crash=1", 0, anomaly.LeftBehind, "A:SET/dies-after" + strings.Repeat(" B:SET", 2), 1, 1, "A:SET"},
		{"v2", "expiry=1", 0, anomaly.TwoHolders, "A:SET expiry B:SET", 3, 2, "A:GET"},
		{"v2", "expiry=1", 0, anomaly.TwoHolders, "A:SET expiry B:SET A:GET", 3, 2, "A:GET"}, // a step after the anomaly changes nothing
		{"v2", "expiry=1", 0, anomaly.ForeignRelease, "A:SET A:GET A:write expiry B:SET A:DEL", 6, 4, "B:GET"},
		{"v4", "", 1, anomaly.SelfDeadlock, "A:SET A:GET A:SET B:SET", 0, 0, ""},        // unavoidable from the start
		{"v4", "crash=1", 1, anomaly.SelfDeadlock, "A:SET A:GET A:SET B:SET", 0, 0, ""}, // a crash of A would be a further fault
		{"v6", "pause=1", 0, anomaly.TwoHolders, "A:begins A:lock A:pauses B:lock time B:lock", 6, 3, "A:resumes"},
		{"v6", "crash=1,pause=1", 0, anomaly.LostUpdate,
			"A:begins A:lock A:GET A:pauses B:lock time B:lock B:GET B:write A:resumes A:write", 8, 4, "A:resumes"},
		{"getset", "late=1", 0, anomaly.LostUpdate,
			"A:SET A:GET A:write/late A:DEL B:SET B:GET B:write A:write/arrives", 6, 3, "A:write/arrives"},
	} {
		t.Run(test.lock+" "+string(test.anomaly), func(t *testing.T) {
			notInShort(t, test.lock)
			if test.nested > 0 && test.faults != "" {
				suite.LongOnly(t, "without the fault, it is stuck as well")
			}
			s, in := find(t, test.lock), with(t, test.faults, test.nested)
			why, err := session.Explain(t.Context(), s, in, test.schedule, test.anomaly, explore.Bounds{})
			if err != nil || why.PointOfNoReturn != test.point || why.EnablingFault != test.turn || len(why.Undecided) > 0 ||
				(test.saves == "") != (len(why.Escapes) == 0) {
				t.Fatalf("%v: %+v; want step %d, possible from step %d, and what saves it", err, why, test.point, test.turn)
			}
			if test.point > 0 && (why.Escapes[0].Token != test.saves || why.PointToken != strings.Fields(test.schedule)[test.point-1]) {
				t.Errorf("%+v; want %s to save it", why, test.saves)
			}
			if o := oracle(t, s, in, test.schedule, test.anomaly); o.NoReturn != test.point || !o.Doomed {
				t.Errorf("the map says %+v; want step %d", o, test.point)
			}
			for _, save := range why.Escapes {
				checkEscape(t, s, in, strings.Fields(test.schedule)[:why.PointOfNoReturn-1], save, test.anomaly)
			}
		})
	}
}

// oracle draws the map of a scenario and returns its distances for a schedule.
func oracle(t *testing.T, s strategy.Strategy, in explore.Scenario, schedule string, a explore.Anomaly) session.Oracle {
	t.Helper()
	m, err := session.NewDistanceMap(t.Context(), s, in, explore.Bounds{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	session, err := session.New(s, in, schedule)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	o, err := m.Oracle(session, a)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// checkEscape replays an escape: it must end all sales, not show the anomaly a, and show the other anomalies that it lists.
func checkEscape(t *testing.T, s strategy.Strategy, in explore.Scenario, before []string, save session.Escape, a explore.Anomaly) {
	t.Helper()
	schedule := strings.Join(slices.Concat(before, []string{save.Token}, save.Path), " ")
	session, err := session.New(s, in, schedule)
	if err != nil {
		t.Fatalf("%s: %v", schedule, err)
	}
	defer session.Close()
	var shown []explore.Anomaly
	for _, other := range session.Now().Hits {
		if other.Step > len(before) {
			shown = append(shown, other.Anomaly)
		}
	}
	if !session.Now().Over || slices.Contains(shown, a) || !slices.Equal(shown, save.Shows) && len(shown)+len(save.Shows) > 0 {
		t.Errorf("%s: over %t, shows %v; want it to come to the end, and show %v", schedule, session.Now().Over, shown, save.Shows)
	}
}

// CompareToEnd says whether the second lock survives a schedule that breaks the first, and whether other schedules break it.
func TestCompareToEndOutcomes(t *testing.T) {
	const crash, foreign = "A:SET/dies-after" + " B:SET" + " B:SET", "A:SET A:GET A:write A:GET expiry B:SET A:DEL"
	for _, test := range []struct {
		locks, faults, schedule string
		anomaly                 explore.Anomaly
		outcome                 session.Outcome
		rows                    int
	}{
		{"v1 v2", "crash=1", crash, anomaly.Stuck, session.NeverShows, 8},
		{"v2 v1", "crash=1", "A:SET/dies-after B:SET", "", session.NeverEnds, 3},
		{"v1 setnx-expire", "crash=1", crash, anomaly.Stuck, session.Shows, 3},
		{"v3 v4", "expiry=1", foreign, anomaly.ForeignRelease, session.NeverShows, 10},
		{"v3 v2", "expiry=1", foreign, anomaly.ForeignRelease, session.OtherwiseShows, 10},
		{"v2 v0", "expiry=1", "A:SET expiry B:SET", "", session.Survives, 7}, // v0 does not promise that only one sale is in the critical section
	} {
		t.Run(test.locks, func(t *testing.T) {
			notInShort(t, test.locks)
			first, second, _ := strings.Cut(test.locks, " ")
			locks, in := [2]strategy.Strategy{find(t, first), find(t, second)}, with(t, test.faults, 0)
			f, err := session.CompareToEnd(t.Context(), locks, in, test.schedule, test.anomaly, explore.Bounds{})
			if err != nil || f.Outcome != test.outcome || len(f.Rows) != test.rows || f.Anomaly != test.anomaly {
				t.Fatalf("%v: %s, %s in %d rows: %+v; want %s, %s in %d",
					err, f.Outcome, f.Anomaly, len(f.Rows), f.Shown, test.outcome, test.anomaly, test.rows)
			}
			for i, s := range locks {
				replayed, err := explore.Replay(s, in, f.Schedules[i])
				if err != nil || len(replayed.Hits) < len(f.Shown[i]) {
					t.Errorf("%s: %v, shows %v; want %v", f.Schedules[i], err, replayed.Hits, f.Shown[i])
				}
			}
			if _, err := explore.Replay(locks[1], in, f.OtherSchedule); (err == nil) != (f.Outcome == session.OtherwiseShows) {
				t.Errorf("%q: %v", f.OtherSchedule, err)
			}
		})
	}
}

// Explain returns undecided steps instead of a point of no return when a bound is hit.
func TestExplainIsUndecidedWhenBoundHit(t *testing.T) {
	s, few := find(t, "v4"), explore.Bounds{Schedules: 1}
	why, err := session.Explain(t.Context(), s, with(t, "", 1), "A:SET A:GET A:SET B:SET", anomaly.SelfDeadlock, few)
	if err != nil || len(why.Undecided) == 0 || why.PointOfNoReturn != 0 {
		t.Errorf("error %v, %+v; want undecided steps and no point of no return", err, why)
	}
	if _, err := session.Explain(t.Context(), s, with(t, "", 0), "A:SET", anomaly.Stuck, few); !errors.Is(err, explore.ErrStale) {
		t.Errorf("a schedule without the anomaly: %v; want ErrStale", err)
	}
}

// The map's distances equal the lengths of the paths that a search from each state finds.
func TestMapDistancesEqualSearch(t *testing.T) {
	for _, test := range []struct {
		lock, faults string
		actors       int
		schedule     string
	}{
		{"v0", "", 2, "B:GET A:GET B:write"},
		{"v2", "expiry=1", 2, "B:SET expiry B:GET"},
		{"v1", "crash=1", 2, "B:SET B:GET/dies-after A:SET"},
		{"v0", "crash=1", 3, "C:GET B:GET A:GET C:write A:write"}, // the three actors are interchangeable on the map
		{"v2", "", 3, "C:SET A:SET C:GET C:write B:SET"},
	} {
		t.Run(fmt.Sprint(test.lock, test.actors), func(t *testing.T) {
			notInShort(t, test.lock)
			if test.lock == "v1" || test.lock == "v2" && test.actors == 3 {
				suite.LongOnly(t, "v2 has a fault, and v0 has three actors, too")
			}
			s, in := find(t, test.lock), with(t, test.faults, 0)
			in.Actors = test.actors
			m, err := session.NewDistanceMap(t.Context(), s, in, explore.Bounds{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			at, err := session.New(s, in, test.schedule)
			if err != nil {
				t.Fatal(err)
			}
			defer at.Close()
			for {
				for _, a := range explore.Anomalies() {
					if !a.IsPromisedBy(s) {
						continue
					}
					away, err := session.ShortestPath(t.Context(), at, a, explore.Bounds{})
					oracle, failed := m.Oracle(at, a)
					if err := errors.Join(err, failed); err != nil || oracle.Now != away.Steps {
						t.Errorf("after %q, %s is by the map: %+v; a search finds %+v, %v", at.Now().Schedule, a, oracle, away, err)
					}
				}
				if !at.Undo() {
					return
				}
			}
		})
	}
}

// A map has as many states and steps as a search for the shortest schedules explores.
func TestMapHasStatesOfSearch(t *testing.T) {
	for _, test := range []struct{ lock, faults string }{{"v2", "expiry=1"}, {"v5", "expiry=1"}, {"v1", "crash=1"}, {"v3", ""}} {
		t.Run(test.lock, func(t *testing.T) {
			s, in := find(t, test.lock), with(t, test.faults, 0)
			in.Actors = 3
			if test.faults == "expiry=1" {
				suite.LongOnly(t, "v1 has a fault, too")
			}
			m, err := session.NewDistanceMap(t.Context(), s, in, explore.Bounds{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			all, err := explore.Explore(t.Context(), s, in, explore.Goal{All: true}, explore.Bounds{})
			if err != nil || m.States() != all.States || m.Steps() != all.Schedules {
				t.Errorf("%v: %d states, %d steps; a search sees %d and %d", err, m.States(), m.Steps(), all.States, all.Schedules)
			}
		})
	}
}

func TestShortestPathDistances(t *testing.T) {
	s, in := find(t, "v2"), with(t, "expiry=1", 0)
	at, err := session.New(s, in, "A:SET expiry")
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	away := func(a explore.Anomaly, bounds explore.Bounds) session.Hint {
		d, err := session.ShortestPath(t.Context(), at, a, bounds)
		if err != nil {
			t.Error(err)
		}
		return d
	}
	if d := away(anomaly.TwoHolders, explore.Bounds{}); d.Steps != 1 || d.Schedule != "A:SET expiry B:SET" {
		t.Errorf("%+v; want one step", d)
	}
	if d := away(anomaly.LeftBehind, explore.Bounds{}); d.Steps != session.Never || d.Schedule != "" {
		t.Errorf("%+v; want never", d)
	}
	if d := away(anomaly.LeftBehind, explore.Bounds{Schedules: 3}); d.Steps != session.Unknown {
		t.Errorf("%+v; want it to be unknown", d)
	}
	if err := at.Take("B:SET"); err != nil {
		t.Fatal(err)
	}
	if d := away(anomaly.TwoHolders, explore.Bounds{}); d.Steps != 0 {
		t.Errorf("%+v; want it to have shown", d)
	}
}

func TestDrawFailsWithErrTooLarge(t *testing.T) {
	few := explore.Bounds{Schedules: 50}
	if _, err := session.NewDistanceMap(t.Context(), find(t, "v4"), with(t, "expiry=2", 0), few, nil); !errors.Is(err, session.ErrTooLarge) {
		t.Errorf("NewDistanceMap with a bound of 50 schedules: %v; want ErrTooLarge", err)
	}
}

// Half of v0's twelve states can lead to a lost update.
func TestDistancesToLostUpdate(t *testing.T) {
	m, err := session.NewDistanceMap(t.Context(), find(t, "v0"), with(t, "", 0), explore.Bounds{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	away, never := m.DistancesTo(anomaly.LostUpdate).Counts()
	if m.States() != 12 || m.Steps() != 14 || never != 6 || away[1] != 2 || away[2] != 1 || away[3] != 2 || away[4] != 1 {
		t.Errorf("%d states, %d steps; %v, never %d", m.States(), m.Steps(), away, never)
	}
}
