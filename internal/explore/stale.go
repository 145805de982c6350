package explore

import (
	"lockstep/internal/explore/engine"
	"lockstep/internal/language"
	"lockstep/internal/lock"
)

// ErrStale means that a schedule does not fit the code, or the scenario.
var ErrStale = lock.WithCode("stale_schedule", "the schedule does not fit the code")

// StaleError is ErrStale, with the reason in the language of the scenario.
type StaleError struct {
	Why   string
	Needs string // the faults that the schedule needs, if the scenario is what does not fit

	in language.Language
}

// Unwrap makes it ErrStale.
func (e *StaleError) Unwrap() error { return ErrStale }

// Stale says why a schedule does not fit.
func Stale(in engine.Scenario, why string) error { return &StaleError{Why: why, in: in.Language} }
