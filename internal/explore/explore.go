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
	// Scenario defines what the actors do, and which faults may happen.
	Scenario = engine.Scenario
	// ScenarioFlags is a scenario as command-line flags.
	ScenarioFlags = engine.Flags
	// Faults is a budget: how often each fault may happen.
	Faults = fault.Budget
	// Fault describes one kind of fault.
	Fault = fault.Row
	// Anomaly is one kind of behavior that a correct lock would not allow.
	Anomaly = anomaly.Anomaly
	// Bounds limits an exploration.
	Bounds = search.Bounds
)

// Errors of Explore, Replay and the parsers, besides ErrStale.
var (
	// ErrBlind is returned when the code under test waits where the explorer cannot see it.
	ErrBlind = engine.ErrBlind
	// ErrUndeclaredPoll is returned when the code polls in a way that it does not declare.
	ErrUndeclaredPoll = engine.ErrUndeclaredPoll
	// ErrPanicked is returned when the code panics.
	ErrPanicked = engine.ErrPanicked
	// ErrUnrepeatable is returned when the code does not do the same thing twice.
	ErrUnrepeatable = engine.ErrUnrepeatable
	// ErrCommand is returned for a command that the simulated Redis does not have.
	ErrCommand = engine.ErrCommand
	// ErrKey is returned for a command with a key that does not belong to the lock.
	ErrKey = engine.ErrKey
	// ErrMalformed is returned for a schedule with a word that is not a step.
	ErrMalformed = engine.ErrMalformed
	// ErrScenarioText is returned by ParseScenario for a text that is not a scenario.
	ErrScenarioText = engine.ErrScenarioText
)

// Anomalies returns all anomalies that the explorer can detect, the most important first.
func Anomalies() []Anomaly { return anomaly.All() }

// AllFaults returns a description of each fault.
func AllFaults() []Fault { return fault.All() }

// FaultNames returns the name of each fault, as in a budget.
func FaultNames() []string { return fault.Names() }

// ParseScenario is the inverse of Scenario.String.
func ParseScenario(text string) (Scenario, error) { return engine.ParseScenario(text) }

// ParseFaults parses a list of budgets, such as expiry=1,crash=1.
func ParseFaults(text string) (Faults, error) { return fault.Parse(text, fault.Names()) }

// Notation returns an example of each form that a step of a schedule can have.
func Notation() []string { return engine.Notation() }

// Goal defines what an exploration looks for, and when it ends.
type Goal struct {
	Anomalies []Anomaly    // anomalies to look for; empty: all that the strategy promises to prevent
	All       bool         // whether to continue until every anomaly was found or everything was explored; false: the first one ends it
	Progress  func(Result) // called several times a second, and must not block; may be nil

	simulatorPool *sync.Pool // pool for Options.SimulatorPool; nil: a new one
}

// Result is the answer of an exploration.
type Result struct {
	Lock     string   // name of the strategy
	Scenario Scenario // scenario that was explored
	search.Result
	Coverage Coverage    // counts of the faults and states explored
	Found    []Recording // shortest counterexample for each anomaly found, in the order of finding

	targets  []Anomaly // anomalies looked for
	segments int       // segments of the stock; 0: the stock is not divided
}

// Verdict returns the verdict on the strategy. Finding no anomaly is inconclusive if something was not tested.
func (r Result) Verdict() verdict.Verdict {
	return verdict.Search{Found: len(r.Found) > 0, Complete: r.Complete && len(r.Untested()) == 0}.Verdict()
}

// Unjudged returns the anomalies that were looked for but could not be judged, because Redis does not show who holds the lock, whether a
// fault kept out an actor that tried only once, or whether an actor is right to sleep although the lock's key is free.
func (r Result) Unjudged() (all []Anomaly) {
	for _, a := range r.targets {
		if slices.Contains(r.Coverage.Unjudged, a) {
			all = append(all, a)
		}
	}
	return all
}

// Explore runs a strategy in every schedule of a scenario. If bounds or ctx end it early, that is not an error, but makes the verdict
// Unknown. It fails with ErrBlind, ErrUndeclaredPoll, ErrUnrepeatable, ErrCommand, ErrKey, or ErrPanicked.
func Explore(ctx context.Context, s strategy.Strategy, scenario Scenario, goal Goal, bounds Bounds) (Result, error) {
	if err := scenario.CheckFor(s); err != nil {
		return Result{}, err
	}
	targets := goal.Anomalies
	if len(targets) == 0 {
		targets = promisedAnomalies(s)
	}
	inner := search.Goal[engine.Transition]{All: goal.All}
	for _, a := range targets {
		inner.Kinds = append(inner.Kinds, string(a))
	}
	if goal.Progress != nil {
		inner.Progress = func(now search.Result) { goal.Progress(Result{Lock: s.Name, Scenario: scenario, Result: now}) }
	}
	options := Options{
		DisabledReductions: engine.DisabledReductions{EverySymmetry: bounds.EverySymmetry},
		Starvation:         slices.Contains(goal.Anomalies, anomaly.Starved),
		SimulatorPool:      cmp.Or(goal.simulatorPool, &sync.Pool{}),
	}
	seeds := engine.NewSeeds()
	result, err := Search(ctx, func() (System, error) {
		h, err := NewHarness(s, scenario, options, seeds)
		return System{Harness: h}, err
	}, inner, bounds)
	result.Lock = s.Name
	result.Scenario = scenario
	result.targets = targets
	if s.Update == strategy.Segmented {
		result.segments = Segments
	}
	return result, err
}

// promisedAnomalies returns the anomalies that a strategy promises to prevent, except for those that are looked for only by name.
func promisedAnomalies(s strategy.Strategy) (all []Anomaly) {
	for _, a := range Anomalies() {
		if a.IsPromisedBy(s) && !a.IsOnRequest() {
			all = append(all, a)
		}
	}
	return all
}
