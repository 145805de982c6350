package session

import (
	"context"
	"slices"

	"lockstep/internal/explore"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/search"
)

// searchAfter searches the continuations of a session's schedule. continuation, unless nil, restricts them.
func searchAfter(
	ctx context.Context, s *Session, continuation *explore.Continuation, goal explore.Anomaly, bounds explore.Bounds,
) (explore.Result, error) {
	options, seeds, path := explore.Options{DisabledReductions: engine.DisabledReductions{EveryStart: true}}, engine.NewSeeds(), s.Path()
	inner := search.Goal[engine.Transition]{Kinds: []string{string(goal)}}
	return explore.Search(ctx, func() (explore.System, error) {
		h, err := explore.NewHarness(s.Strategy(), s.Scenario(), options, seeds)
		return explore.System{Harness: h, Prefix: path, Continuation: continuation}, err
	}, inner, bounds)
}

// Distances other than a number of steps.
const (
	Never   = -1 // no path shows the anomaly
	Unknown = -2 // a bound was hit before all paths were explored
)

// Hint is a shortest path to an anomaly, or the reason why there is none.
type Hint struct {
	Steps    int    `json:"steps"`    // length of the path, or Never or Unknown; 0: the anomaly was shown
	Next     string `json:"next"`     // token of the path's first step; "": none
	Schedule string `json:"schedule"` // schedule from the start to the anomaly; "": none
}

// ShortestPath searches for a shortest path from the present state of a session to an anomaly. The path may contain faults, within their
// budgets.
func ShortestPath(ctx context.Context, s *Session, a explore.Anomaly, bounds explore.Bounds) (Hint, error) {
	if slices.ContainsFunc(s.Now().Hits, func(shown explore.AnomalyHit) bool { return shown.Anomaly == a }) {
		return Hint{Schedule: s.Now().Schedule}, nil
	}
	if s.Now().Over {
		return Hint{Steps: Never}, nil
	}
	result, err := searchAfter(ctx, s, nil, a, bounds)
	switch {
	case err != nil:
		return Hint{Steps: Unknown}, err
	case len(result.Found) > 0:
		found := result.Found[0]
		return Hint{found.Length() - len(s.path), found.Steps[len(s.path)].Token, found.Schedule()}, nil
	case result.Complete:
		return Hint{Steps: Never}, nil
	default:
		return Hint{Steps: Unknown}, nil
	}
}

// searchWithoutFaults searches for a shortest path without further faults from a session's state to a goal. The path must not show avoided.
func searchWithoutFaults(ctx context.Context, s *Session, avoided, goal explore.Anomaly, bounds explore.Bounds) (explore.Result, error) {
	return searchAfter(ctx, s, &explore.Continuation{Avoid: avoided}, goal, bounds)
}
