package explore

import (
	"lockstep/internal/explore/engine"
	"lockstep/internal/language"
	"lockstep/internal/lock"
)

// ErrStale is returned for a schedule that the code does not follow, or that the scenario does not allow.
var ErrStale = lock.WithCode("stale_schedule", "the schedule does not fit the code")

// StaleError is an ErrStale with a reason, in the language of the scenario.
type StaleError struct {
	Reason       string // why the schedule does not fit, a sentence without a full stop
	NeededFaults string // fault budget that the schedule needs; "": the budget is not the reason

	language language.Language // language of Reason
}

// Unwrap returns ErrStale.
func (e *StaleError) Unwrap() error { return ErrStale }

// NewStaleError returns a StaleError with a reason in the language of a scenario.
func NewStaleError(scenario engine.Scenario, reason string) error {
	return &StaleError{Reason: reason, language: scenario.Language}
}
