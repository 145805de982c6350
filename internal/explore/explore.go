package explore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/search"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/lock/verdict"
	"lockstep/internal/trace"
)

type (
	// Scenario says who does what, and what may go wrong.
	Scenario = engine.Scenario
	// ScenarioFlags are a scenario as flags.
	ScenarioFlags = engine.Flags
	// Faults say how often each fault may happen.
	Faults = engine.Faults
	// Fault is a fault's name, and what happens.
	Fault = engine.Fault
	// Anomaly is one kind of thing that goes wrong.
	Anomaly = anomaly.Anomaly
	// Bounds say when to stop.
	Bounds = search.Bounds
)

// Of Scenario.Polls.
const (
	NoPolls    = engine.NoPolls
	UsualPolls = engine.UsualPolls
	MaxPolls   = engine.MaxPolls
)

// The errors of Explore and Replay.
var (
	ErrBlind        = engine.ErrBlind        // the code waits where the explorer cannot see it
	ErrUnsaid       = engine.ErrUnsaid       // the code polls in a loop of its own
	ErrPanicked     = engine.ErrPanicked     // the code panics
	ErrUnrepeatable = engine.ErrUnrepeatable // the code does not do the same twice
	ErrCommand      = engine.ErrCommand      // a command that the simulated Redis does not have
	ErrKey          = engine.ErrKey          // a key that is not the lock's
	ErrMalformed    = engine.ErrMalformed    // a step of the schedule is none
	ErrText         = engine.ErrText         // the text of a scenario is none
)

// Anomalies lists them all, in the order in which they are looked for.
func Anomalies() []Anomaly { return anomaly.All() }

// SentenceOf says what an anomaly is in a scenario, in its language: a lock may have to be free after a time.
func SentenceOf(a Anomaly, in Scenario) string {
	if a == anomaly.LeftBehind && in.Within > 0 {
		return in.Say("a lock stays for longer than %v, although no sale holds it", "没有一单持有锁，锁却残留超过 %v", in.Within)
	}
	return a.Row().Says.In(in.Language)
}

// AllFaults lists the faults there are.
func AllFaults() []Fault { return engine.AllFaults() }

// FaultNames lists their names.
func FaultNames() []string { return engine.FaultNames() }

// ParseScenario reads what Scenario.String writes.
func ParseScenario(text string) (Scenario, error) { return engine.ParseScenario(text) }

// ParseFaults reads budgets, such as expiry=1,crash=1.
func ParseFaults(text string) (Faults, error) { return engine.ParseFaults(text) }

// Notation says how a schedule writes its steps, by examples.
func Notation() []string { return engine.Notation() }

// Goal says what an exploration is for.
type Goal struct {
	Anomalies []Anomaly    // to look for; none: all that apply
	All       bool         // go on until each was found, or everything was seen; otherwise the first ends it
	Progress  func(Result) // called several times a second, and must not wait; may be nil
}

// Result is what an exploration found.
type Result struct {
	Lock     string
	Scenario Scenario // with as many polls as were explored
	search.Result
	Coverage Coverage
	Found    []Counterexample // the shortest for each anomaly that was found, in the order in which they were

	lookedFor []Anomaly
	segments  int // of the stock; 0: it is in none
}

// Counterexample is the shortest schedule that shows an anomaly.
type Counterexample struct {
	Anomaly  Anomaly
	Length   int    // steps
	Schedule string // for a replay
	Trace    trace.Trace
}

// Verdict says what was found. That nothing was found says nothing where something was not put to the test.
func (r Result) Verdict() verdict.Verdict {
	return verdict.Of(len(r.Found) > 0, r.Complete && len(r.Untested()) == 0)
}

// Unjudged returns those of the anomalies looked for that could not be judged: nothing in Redis says whose the lock is.
func (r Result) Unjudged() (all []Anomaly) {
	for _, a := range r.lookedFor {
		if r.Coverage.Untellable && (a == anomaly.ForeignRelease || a == anomaly.Untold) {
			all = append(all, a)
		}
	}
	return all
}

// Untested says what was not put to the test: nobody sold, although everything was explored, a fault that was allowed never happened, or
// nobody can say what time would bring, or whose the lock is.
func (r Result) Untested() (all []string) {
	if r.Coverage.Undecided {
		all = append(all, r.Scenario.Say("a wait that a clock may end was not seen to its end", "有一次等待可能随时间结束，但没有探索到它结束"))
	}
	if len(r.lookedFor) > 0 && len(r.Unjudged()) == len(r.lookedFor) {
		all = append(all, r.Scenario.Say("nothing in Redis says whose the lock is", "Redis 里没有记录锁属于谁"))
	}
	if r.Complete && !r.Coverage.Sold() {
		all = append(all, r.Scenario.Say("no sale succeeded in any schedule", "所有时序里一件也没有卖出"))
	}
	for _, name := range FaultNames() {
		if r.Scenario.Faults.Map()[name] > 0 && r.Coverage.Faults[name] == 0 {
			all = append(all, r.Scenario.Say("%s never happened", "故障 %s 从未发生", name))
		}
	}
	return all
}

// Cut says what was left out, in phrases: what was not explored, or not put to the test, and how far waiters asked in vain. It is empty if
// the answer is true without a limit but the scenario's.
func (r Result) Cut() (all []string) {
	if r.Bound != "" {
		all = append(all, r.Scenario.Say("the exploration ended early: %s", "探索提前结束：%s", r.Bound))
	}
	all = append(all, r.Untested()...)
	return append(all, r.limits()...)
}

// limits says what an answer leaves out that is that it holds: further polls, and what cannot be seen.
func (r Result) limits() (all []string) {
	say := r.Scenario.Say
	if r.Coverage.Beyond {
		polls := "up to %d vain polls"
		if r.Scenario.PollsInVain() == 1 {
			polls = "up to %d vain poll"
		}
		all = append(all, say(polls, "最多空轮询 %d 次", r.Scenario.PollsInVain()))
	}
	var names []string
	for _, a := range r.Unjudged() {
		names = append(names, string(a))
	}
	if len(names) > 0 && len(names) < len(r.lookedFor) {
		all = append(all, say("%s not judged, as nothing in Redis says whose the lock is", "%s 无法判断，因为 Redis 里没有记录锁属于谁",
			strings.Join(names, say(" and ", " 和 "))))
	}
	return all
}

// But says why the answer is not that it holds: what Cut says, but for the limits of any answer.
func (r Result) But() string {
	all := r.Cut()
	return strings.Join(all[:len(all)-len(r.limits())], r.Scenario.Say(", and ", "，而且"))
}

// Setting says in what was explored: the scenario, and its limits.
func (r Result) Setting() string {
	in := r.Scenario
	if r.Coverage.Beyond {
		in.Polls = 0
	}
	flags := in.String()
	if in.Actors == 2 {
		flags = strings.TrimSpace(in.Say("2 actors ", "2 个参与者 ") + flags)
	}
	all := []string{flags}
	if r.segments > 0 {
		all = append(all, in.Say("%d segments, all but one sold out", "%d 段库存，只有一段没卖完", r.segments))
	}
	return strings.Join(append(all, r.limits()...), in.Say(", ", "，"))
}

// Explore runs a strategy in every schedule of a scenario. If that shows nothing, and is cheap, it goes on with more polls, unless the
// scenario says how many: that of the result does. That it was cut short, by bounds or by ctx, is no error, but makes the verdict
// unknown. It fails with ErrBlind, ErrUnsaid, ErrUnrepeatable, ErrCommand, ErrKey, or ErrPanicked.
func Explore(ctx context.Context, s strategy.Strategy, in Scenario, goal Goal, bounds Bounds) (Result, error) {
	if err := in.CheckFor(s); err != nil {
		return Result{}, err
	}
	lookedFor := goal.Anomalies
	if len(lookedFor) == 0 {
		lookedFor = applying(s)
	}
	inner := search.Goal[engine.Transition]{
		All: goal.All, OneStart: in.Actors == 1 || bounds.EverySymmetry, Language: in.Language,
	}
	for _, a := range lookedFor {
		inner.Kinds = append(inner.Kinds, string(a))
	}
	ctx, free := search.Within(ctx, bounds.Time) // one for all searches
	defer free()
	bounds.Time = 0
	inner.Symmetric = in.Alike() && in.Sales <= 1 && !s.OnNodes && !inner.OneStart
	seeds, again := engine.NewSeeds(), false
	var explored explorer
	explored = func(in Scenario, bounds Bounds) (Result, error) {
		if goal.Progress != nil {
			inner.Progress = func(now search.Result) { goal.Progress(Result{Lock: s.Name, Scenario: in, Result: now}) }
		}
		options := Options{Starved: slices.Contains(goal.Anomalies, anomaly.Starved)}
		options.Interchangeable, options.EverySymmetry, options.EveryRound = inner.Symmetric, bounds.EverySymmetry, bounds.EverySymmetry
		result, err := Search(ctx, func() (System, error) {
			h, err := NewHarness(s, in, options, seeds)
			return System{Harness: h, Again: again}, err
		}, inner, bounds)
		result.Lock, result.Scenario, result.lookedFor, again = s.Name, in, lookedFor, err == nil
		if s.Update == strategy.Segmented {
			result.segments = Segments
		}
		if errors.Is(err, search.ErrNames) {
			inner.Symmetric = false
			return explored(in, bounds)
		}
		return result, err
	}
	whole := bounds.EveryState || bounds.EverySymmetry
	if bounds.Awake = cmp.Or(bounds.Awake, usuallyAwake); whole || s.OnNodes || in.PollsInVain() == 0 {
		bounds.Awake = 0
	}
	result, err := Result{}, errDear
	if bounds.Awake >= 0 {
		result, err = explored(in, bounds)
	}
	switch {
	case errors.Is(err, errDear):
		in.Polls, bounds.Awake = min(in.PollsInVain(), few), 0
		return explored(in, bounds)
	case err != nil || whole || in.Polls != 0:
		return result, err
	}
	bounds.Awake = 0
	return deepen(result, bounds, explored)
}

// applying returns the anomalies that a strategy promises to prevent, but for those that have to be named.
func applying(s strategy.Strategy) (all []Anomaly) {
	for _, a := range Anomalies() {
		if a.IsPromisedBy(s) && !a.ByName() {
			all = append(all, a)
		}
	}
	return all
}
