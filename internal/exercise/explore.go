package exercise

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/strategy"
	"lockstep/internal/trace"
	"lockstep/internal/verdict"
)

// Why nothing can be said.
const (
	NotCompiled  = "compile"
	Panicked     = "panic"
	Blind        = "blind"
	Unsaid       = "loop"
	Unrepeatable = "unrepeatable"
	BadCommand   = "command"
	BadKey       = "key"
	Shared       = "shared"
	TimedOut     = "time"
	OtherTrouble = "trouble"
)

// Outcome is what a check found.
type Outcome struct {
	Exercise  string          `json:"exercise"`
	State     verdict.Verdict `json:"state"`
	Scenario  string          `json:"scenario,omitempty"` // flags of explore, in which the anomaly shows
	Anomaly   string          `json:"anomaly,omitempty"`
	Says      string          `json:"says,omitempty"`   // what goes wrong, or what keeps the check from saying it
	Reason    string          `json:"reason,omitempty"` // of failed: one of the constants
	Length    int             `json:"length,omitempty"`
	Schedule  string          `json:"schedule,omitempty"`
	Diagram   string          `json:"diagram,omitempty"`
	Schedules int             `json:"schedules"` // explored
	Seconds   float64         `json:"seconds"`

	Steps []trace.Step `json:"steps,omitempty"`
}

// Bounds of a check. A lock that is right, or one of the flaws that learners have, is through in a few seconds.
const (
	longestExploration = 15 * time.Second // of all looks, of a learner's code
	mostMemory         = 1500 << 20
	patience           = 5 * time.Second // without a step, until code counts as one that waits elsewhere
)

// Explore says whether a lock meets the exercise's claim: it goes through the looks, up to the first in which an anomaly shows, or the end
// of ctx.
func (e Exercise) Explore(ctx context.Context, s strategy.Strategy, in language.Language) Outcome {
	began := time.Now()
	outcome := Outcome{Exercise: e.ID(), State: verdict.Done}
	if s.New == nil {
		outcome.State, outcome.Reason, outcome.Says = verdict.Failed, OtherTrouble, "Strategy gives no New"
		return outcome
	}
	if e.choosesUpdate() && (s.Update < strategy.ReadModifyWrite || s.Update > strategy.Unchecked) {
		outcome.State, outcome.Reason = verdict.Failed, OtherTrouble
		outcome.Says = fmt.Sprintf("there is no strategy.Update %d: take ReadModifyWrite, CheckAndSet, Atomic or LateCommit", s.Update)
		return outcome
	}
	for _, look := range e.Looks {
		if outcome.look(ctx, e.judged(s, look.Scenario), look, in); outcome.State != verdict.Done {
			break
		}
	}
	outcome.Seconds = time.Since(began).Seconds()
	return outcome
}

// look explores one scenario, and takes down what was found.
func (o *Outcome) look(ctx context.Context, s strategy.Strategy, look Look, in language.Language) {
	bounds := explore.Bounds{Memory: mostMemory, Patience: patience}
	look.Scenario.Language = in
	result, err := explore.Explore(ctx, s, look.Scenario, explore.Goal{Anomalies: look.Anomalies}, bounds)
	o.Schedules += result.Schedules
	o.Scenario = look.Scenario.String()
	switch {
	case err != nil:
		o.State, o.Reason, o.Says = verdict.Failed, reason(err), err.Error()
	case len(result.Found) > 0:
		found := result.Found[0]
		o.State, o.Anomaly, o.Says = verdict.NotYet, string(found.Anomaly()), found.Verdict
		o.Length, o.Schedule, o.Steps = found.Length(), found.Schedule(), found.Steps
		o.Diagram = found.Legend() + "\n" + found.Sequence()
	case !result.Complete:
		o.State, o.Reason, o.Says = verdict.Failed, TimedOut, result.Bound()
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			o.Says = longestExploration.String()
		}
	case len(result.Untested()) > 0:
		o.State, o.Says = verdict.NotYet, strings.Join(result.Untested(), ", ")
	default:
		o.Scenario = ""
	}
}

// reason sorts the errors of the explorer.
func reason(err error) string {
	switch {
	case errors.Is(err, explore.ErrBlind):
		return Blind
	case errors.Is(err, explore.ErrUndeclaredPoll):
		return Unsaid
	case errors.Is(err, explore.ErrUnrepeatable):
		return Unrepeatable
	case errors.Is(err, explore.ErrCommand):
		return BadCommand
	case errors.Is(err, explore.ErrKey):
		return BadKey
	case errors.Is(err, errShared):
		return Shared
	case errors.Is(err, explore.ErrPanicked):
		return Panicked
	}
	return OtherTrouble
}
