package explore

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/fault"
	"lockstep/internal/explore/search"
	"lockstep/internal/strategy"
	"lockstep/internal/verdict"
)

type (
	// Scenario says who does what, and what may go wrong.
	Scenario = engine.Scenario
	// ScenarioFlags are a scenario as flags.
	ScenarioFlags = engine.Flags
	// Faults say how often each fault may happen.
	Faults = fault.Budget
	// Fault is what there is to know of one thing that may go wrong.
	Fault = fault.Row
	// Anomaly is one kind of thing that goes wrong.
	Anomaly = anomaly.Anomaly
	// Bounds say when to stop.
	Bounds = search.Bounds
)

// The errors of Explore and Replay.
var (
	ErrBlind          = engine.ErrBlind          // the code waits where the explorer cannot see it
	ErrUndeclaredPoll = engine.ErrUndeclaredPoll // the code polls in a way that it does not declare
	ErrPanicked       = engine.ErrPanicked       // the code panics
	ErrUnrepeatable   = engine.ErrUnrepeatable   // the code does not do the same twice
	ErrCommand        = engine.ErrCommand        // a command that the simulated Redis does not have
	ErrKey            = engine.ErrKey            // a key that is not the lock's
	ErrMalformed      = engine.ErrMalformed      // a step of the schedule is none
	ErrScenarioText   = engine.ErrScenarioText   // the text of a scenario is none
)

// Anomalies lists them all, in the order in which they are looked for.
func Anomalies() []Anomaly { return anomaly.All() }

// AllFaults lists the faults there are.
func AllFaults() []Fault { return fault.All() }

// FaultNames lists their names.
func FaultNames() []string { return fault.Names() }

// ParseScenario reads what Scenario.String writes.
func ParseScenario(text string) (Scenario, error) { return engine.ParseScenario(text) }

// ParseFaults reads budgets, such as expiry=1,crash=1.
func ParseFaults(text string) (Faults, error) { return fault.Parse(text, fault.Names()) }

// Notation says how a schedule writes its steps, by examples.
func Notation() []string { return engine.Notation() }

// Goal says what an exploration is for.
type Goal struct {
	Anomalies []Anomaly    // to look for; none: all that apply
	All       bool         // go on until each was found, or everything was seen; otherwise the first ends it
	Progress  func(Result) // called several times a second, and must not wait; may be nil
	memories  *sync.Pool   // Options.Memories
}

// Result is what an exploration found.
type Result struct {
	Lock     string
	Scenario Scenario
	search.Result
	Coverage Coverage
	Found    []Recording // the shortest for each anomaly that was found, in the order in which they were

	lookedFor []Anomaly
	segments  int // of the stock; 0: it is in none
}

// Verdict says what was found. That nothing was found says nothing where something was not put to the test.
func (r Result) Verdict() verdict.Verdict {
	return verdict.Search{Found: len(r.Found) > 0, Complete: r.Complete && len(r.Untested()) == 0}.Verdict()
}

// Unjudged returns those of the anomalies looked for that could not be judged, as Redis does not tell: whose the lock is, whether a fault
// kept out one that tried once, or whether one who sleeps has a reason to, though the lock's key is free.
func (r Result) Unjudged() (all []Anomaly) {
	for _, a := range r.lookedFor {
		if slices.Contains(r.Coverage.Unjudged, a) {
			all = append(all, a)
		}
	}
	return all
}

// Explore runs a strategy in every schedule of a scenario. That it was cut short, by bounds or by ctx, is no error, but makes the verdict
// unknown. It fails with ErrBlind, ErrUndeclaredPoll, ErrUnrepeatable, ErrCommand, ErrKey, or ErrPanicked.
func Explore(ctx context.Context, s strategy.Strategy, in Scenario, goal Goal, bounds Bounds) (Result, error) {
	if err := in.CheckFor(s); err != nil {
		return Result{}, err
	}
	lookedFor := goal.Anomalies
	if len(lookedFor) == 0 {
		lookedFor = applying(s)
	}
	inner := search.Goal[engine.Transition]{All: goal.All}
	for _, a := range lookedFor {
		inner.Kinds = append(inner.Kinds, string(a))
	}
	if goal.Progress != nil {
		inner.Progress = func(now search.Result) { goal.Progress(Result{Lock: s.Name, Scenario: in, Result: now}) }
	}
	options := Options{
		Cuts: engine.Cuts{EverySymmetry: bounds.EverySymmetry}, Starved: slices.Contains(goal.Anomalies, anomaly.Starved),
		Memories: cmp.Or(goal.memories, &sync.Pool{}),
	}
	seeds := engine.NewSeeds()
	result, err := Search(ctx, func() (System, error) {
		h, err := NewHarness(s, in, options, seeds)
		return System{Harness: h}, err
	}, inner, bounds)
	result.Lock, result.Scenario, result.lookedFor = s.Name, in, lookedFor
	if s.Update == strategy.Segmented {
		result.segments = Segments
	}
	return result, err
}

// applying returns the anomalies that a strategy promises to prevent, but for those that have to be named.
func applying(s strategy.Strategy) (all []Anomaly) {
	for _, a := range Anomalies() {
		if a.IsPromisedBy(s) && !a.OnRequest() {
			all = append(all, a)
		}
	}
	return all
}
