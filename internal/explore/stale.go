package explore

import (
	"fmt"

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

// Error implements error.
func (e *StaleError) Error() string {
	if e.Needs != "" {
		return e.Why
	}
	return fmt.Sprintf(language.Both(ErrStale.Error()+": %s", "时序与代码不符：%s").In(e.in), e.Why)
}

// Unwrap makes it ErrStale.
func (e *StaleError) Unwrap() error { return ErrStale }

// Stale says why a schedule does not fit. Both forms are formats, for the same values.
func Stale(in engine.Scenario, english, chinese string, values ...any) error {
	return &StaleError{Why: in.Say(english, chinese, values...), in: in.Language}
}

// Lacking says which faults a schedule needs, if its steps up to one need more than the scenario allows; otherwise it returns nil.
func Lacking(in engine.Scenario, upTo, schedule string) error {
	if in.Faults.AtLeast(engine.Budgets(upTo)) == in.Faults {
		return nil
	}
	needs := in.Faults.AtLeast(engine.Budgets(schedule)).String()
	return &StaleError{Why: in.Say("it needs --faults %s", "需要 --faults %s", needs), Needs: needs, in: in.Language}
}

// AtStep says at which step of a schedule, counted from 1, something is wrong.
func AtStep(in engine.Scenario, step int, token string, err error) error {
	return fmt.Errorf("%s%w", in.Say("step %d, %s: ", "第 %d 步 %s：", step, token), err)
}
