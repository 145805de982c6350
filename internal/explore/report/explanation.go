package report

import (
	"context"

	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
)

// schedulesAsked bounds each question about what was seen: when it was too late, how far an anomaly is away.
const maxSchedulesPerQuestion = 20_000

// explain finds the point of no return, if that was asked for.
func (r Request) explain(ctx context.Context, schedule string, a explore.Anomaly) (*session.Explanation, error) {
	if !r.Why {
		return nil, nil //nolint:nilnil // nobody asked
	}
	why, err := session.Explain(ctx, r.Lock, r.Scenario, schedule, a, explore.Bounds{Schedules: maxSchedulesPerQuestion})
	if ctx.Err() != nil {
		return nil, nil //nolint:nilerr,nilnil // it was interrupted: what was seen says nothing
	}
	return &why, err
}

// explainAll does it for each counterexample.
func (r Request) explainAll(ctx context.Context, found []explore.Recording) (whys []*session.Explanation, err error) {
	for _, e := range found {
		why, err := r.explain(ctx, e.Schedule(), e.Anomaly())
		if err != nil {
			return nil, err
		}
		whys = append(whys, why)
	}
	return whys, nil
}
