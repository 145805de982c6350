package exercise

import (
	"context"
	"errors"
	"strings"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/strategy"
	"lockstep/internal/trace"
	"lockstep/internal/verdict"
)

// The reasons of an Outcome without a verdict (verdict.Failed).
const (
	NotCompiled    = "compile"      // the code does not compile
	Panicked       = "panic"        // the code panics
	Blind          = "blind"        // the code waits or starts a goroutine where the explorer cannot see it
	UndeclaredPoll = "loop"         // the code polls without lock.Poll
	Unrepeatable   = "unrepeatable" // the code does not always do the same in the same state
	BadCommand     = "command"      // the simulated Redis does not know a command
	BadKey         = "key"          // the code uses a key that is not the lock's
	Shared         = "shared"       // processes share a variable
	TimedOut       = "time"         // the exploration has reached a bound, or the code does not end
	OtherTrouble   = "trouble"      // any other error
)

// Outcome is the result of a check.
type Outcome struct {
	Exercise  string          `json:"exercise"`           // ID of the exercise
	State     verdict.Verdict `json:"state"`              // Done, NotYet or Failed
	Scenario  string          `json:"scenario,omitempty"` // scenario of the counterexample, as flags of lockstep explore; "": no flags
	Anomaly   string          `json:"anomaly,omitempty"`  // anomaly of the counterexample; "": none
	Says      string          `json:"says,omitempty"`     // sentences about the counterexample, or about why there is no verdict
	Reason    string          `json:"reason,omitempty"`   // one of the reasons if State is Failed; otherwise ""
	Length    int             `json:"length,omitempty"`   // number of steps of Schedule
	Schedule  string          `json:"schedule,omitempty"` // shortest schedule that breaks the claim, or that led to the failure
	Diagram   string          `json:"diagram,omitempty"`  // sequence diagram of Schedule, with its legend
	Schedules int             `json:"schedules"`          // number of schedules explored
	Seconds   float64         `json:"seconds"`            // duration of the check, with the compilation
	Printed   bool            `json:"printed,omitempty"`  // the code has printed something, which is not shown

	Steps []trace.Step `json:"steps,omitempty"` // steps of Schedule with what each does
}

// The bounds of a check. A correct lock, or a lock with a usual flaw, takes a few seconds.
const (
	explorationTime = 30 * time.Second // time limit for all explorations of a check together
	maxMemory       = 1500 << 20       // memory limit of the explorer in bytes
	patience        = 5 * time.Second  // time without a step after which the code counts as waiting where the explorer cannot see it
)

// Explore checks whether a lock meets the exercise's claim. It runs the explorations in order, up to the first one that finds an anomaly,
// or until ctx ends.
func (e Exercise) Explore(ctx context.Context, s strategy.Strategy, in language.Language) Outcome {
	start := time.Now()
	outcome := Outcome{Exercise: e.ID(), State: verdict.Done}
	if s.New == nil {
		outcome.fail(in, OtherTrouble, in.Say("Strategy.New is nil: let Strategy return strategy.Strategy{New: New}",
			"Strategy.New 是 nil：请让 Strategy 返回 strategy.Strategy{New: New}"))
		return outcome
	}
	if e.choosesUpdate() && (s.Update < strategy.ReadModifyWrite || s.Update > strategy.Unchecked) {
		outcome.fail(in, OtherTrouble, in.Say("there is no strategy.Update %d: use ReadModifyWrite, CheckAndSet, Atomic or LateCommit",
			"没有 strategy.Update %d：请用 ReadModifyWrite、CheckAndSet、Atomic 或 LateCommit", s.Update))
		return outcome
	}
	for _, exploration := range e.Explorations {
		if outcome.explore(ctx, e.prepare(s, exploration.Scenario), exploration, in); outcome.State != verdict.Done {
			break
		}
	}
	outcome.Seconds = time.Since(start).Seconds()
	return outcome
}

// explore explores one scenario, and records the result.
func (o *Outcome) explore(ctx context.Context, s strategy.Strategy, exploration Exploration, in language.Language) {
	bounds := explore.Bounds{Memory: maxMemory, StallTimeout: patience}
	exploration.Scenario.Language = in
	result, err := explore.Explore(ctx, s, exploration.Scenario, explore.Goal{Anomalies: exploration.Anomalies}, bounds)
	o.Schedules += result.Schedules
	o.Scenario = exploration.Scenario.String()
	switch {
	case err != nil:
		o.failBy(err, in)
	case len(result.Found) > 0:
		found := result.Found[0]
		o.State, o.Anomaly, o.Says = verdict.NotYet, string(found.Anomaly()), found.Verdict
		o.Length, o.Schedule, o.Steps = found.Length(), found.Schedule(), found.Steps
		o.Diagram = found.Legend() + "\n" + found.Sequence()
	case !result.Complete:
		bound := result.Bound()
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			bound = explorationTime.String()
		}
		o.fail(in, TimedOut, incompleteText(*o, bound, result.Depth, in))
	case len(result.Untested()) > 0:
		o.State, o.Says = verdict.NotYet, strings.Join(result.Untested(), in.Say(", ", "，"))
	default:
		o.Scenario = ""
	}
}
