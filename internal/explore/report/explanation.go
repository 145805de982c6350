package report

import (
	"context"

	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
)

// maxSchedulesPerQuestion bounds each search for an explanation, a distance or a counterfactual, so that the user of a terminal does not
// wait long.
const maxSchedulesPerQuestion = 20_000

// explain returns the explanation of a schedule that shows an anomaly; nil if none was requested, or if the search was interrupted.
func (r Request) explain(ctx context.Context, schedule string, a explore.Anomaly) (*session.Explanation, error) {
	if !r.Why {
		return nil, nil //nolint:nilnil // nil: no explanation was requested
	}
	why, err := session.Explain(ctx, r.Lock, r.Scenario, schedule, a, explore.Bounds{Schedules: maxSchedulesPerQuestion})
	if ctx.Err() != nil {
		return nil, nil //nolint:nilerr,nilnil // nil: an interrupted explanation is worthless
	}
	return &why, err
}

// explainAll returns the explanation of each counterexample.
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
