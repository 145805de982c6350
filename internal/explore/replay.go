package explore

import (
	"context"
	"fmt"
	"strings"

	"lockstep/internal/explore/engine"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/trace"
)

// Replayed is a schedule, replayed: what happened, and the anomalies it showed.
type Replayed struct {
	trace.Trace
	Shown []Shown // each anomaly once, in the order in which they appeared
}

// Replay runs one schedule, as Explore wrote it, step by step. It fails with ErrMalformed or ErrStale, saying at which step and why;
// what it gives then is what came before.
func Replay(s strategy.Strategy, in Scenario, schedule string) (replayed Replayed, err error) {
	return ReplayWithContext(context.Background(), s, in, schedule)
}

// ReplayWithContext does the same. Once ctx has ended, it takes no further step, and fails with the error of ctx.
func ReplayWithContext(ctx context.Context, s strategy.Strategy, in Scenario, schedule string) (replayed Replayed, err error) {
	if err := in.CheckFor(s); err != nil {
		return Replayed{}, err
	}
	if strings.TrimSpace(schedule) == "" {
		return Replayed{}, fmt.Errorf("%w: the schedule is empty", ErrMalformed)
	}
	options := Options{Cuts: engine.Cuts{EverySymmetry: true}, Starved: true, Stop: Until(ctx)}
	h, err := NewHarness(s, in, options, engine.NewSeeds())
	if err != nil {
		return Replayed{}, err
	}
	defer h.Close()
	run := h.Begin()
	defer run.Engine.Close()
	record := run.Record()
	replayed.Shown, _, err = run.Follow(schedule, s)
	replayed.Trace = record.Trace()
	return replayed, err
}
