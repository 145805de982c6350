package explore

import (
	"context"
	"fmt"
	"strings"

	"lockstep/internal/explore/engine"
	"lockstep/internal/language"
	"lockstep/internal/strategy"
)

// Replay runs one schedule, in the notation of Explore, step by step. If a step does not fit, it fails with ErrMalformed or ErrStale; the
// error names the step and the reason, and the Recording ends before that step.
func Replay(s strategy.Strategy, scenario Scenario, schedule string) (Recording, error) {
	return ReplayWithContext(context.Background(), s, scenario, schedule)
}

// ReplayWithContext is Replay with a context. Once ctx has ended, it takes no further step and fails with the error of ctx.
func ReplayWithContext(ctx context.Context, s strategy.Strategy, scenario Scenario, schedule string) (Recording, error) {
	if err := scenario.CheckFor(s); err != nil {
		return Recording{}, err
	}
	if strings.TrimSpace(schedule) == "" {
		return Recording{}, language.Translate(fmt.Errorf("%w: the schedule is empty", ErrMalformed), "时序是空的")
	}
	options := Options{DisabledReductions: engine.DisabledReductions{EverySymmetry: true}, Starvation: true, Stop: StopWhenDone(ctx)}
	h, err := NewHarness(s, scenario, options, engine.NewSeeds())
	if err != nil {
		return Recording{}, err
	}
	defer h.Close()
	run := h.Begin()
	defer run.Engine.Close()
	run.Record()
	_, err = run.Follow(schedule)
	return run.Recording(), err
}
