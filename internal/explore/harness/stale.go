package harness

import (
	"fmt"

	"lockstep/internal/explore/scenario"
	"lockstep/internal/language"
	"lockstep/internal/lock"
)

// ErrStale means that a schedule does not fit the code, or the scenario.
var ErrStale = lock.WithCode("stale_schedule", "the schedule does not fit the code")

// StaleError is ErrStale, with the reason in the language of the scenario.
type StaleError struct {
	Why string

	in language.Language
}

// Error implements error.
func (e *StaleError) Error() string {
	return fmt.Sprintf(language.Both(ErrStale.Error()+": %s", "时序与代码不符：%s").In(e.in), e.Why)
}

// Unwrap makes it ErrStale.
func (e *StaleError) Unwrap() error { return ErrStale }

// Stale says why a schedule does not fit. Both forms are formats, for the same values.
func Stale(in scenario.Scenario, english, chinese string, values ...any) error {
	return &StaleError{in.Say(english, chinese, values...), in.Language}
}

// AtStep says at which step of a schedule, counted from 1, something is wrong.
func AtStep(in scenario.Scenario, step int, token string, err error) error {
	return fmt.Errorf("%s%w", in.Say("step %d, %s: ", "第 %d 步 %s：", step, token), err)
}
