package session

import (
	"context"
	"slices"

	"lockstep/internal/explore"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/search"
)

// after searches what follows the schedule of a session.
func searchAfter(
	ctx context.Context, s *Session, continuation *explore.Continuation, goal explore.Anomaly, bounds explore.Bounds,
) (explore.Result, error) {
	options, seeds, path := explore.Options{Cuts: engine.Cuts{EveryStart: true}}, engine.NewSeeds(), s.Path()
	inner := search.Goal[engine.Transition]{Kinds: []string{string(goal)}}
	return explore.Search(ctx, func() (explore.System, error) {
		h, err := explore.NewHarness(s.Strategy(), s.Scenario(), options, seeds)
		return explore.System{Harness: h, Prefix: path, Continuation: continuation}, err
	}, inner, bounds)
}

// Distances that are no number of steps.
const (
	Never   = -1 // no way shows the anomaly
	Unknown = -2 // a bound was hit before all ways were seen
)

// Hint is a shortest way to an anomaly, and so how far that is away.
type Hint struct {
	Steps    int    `json:"steps"`    // of the way, or Never, or Unknown; 0: it was shown
	Next     string `json:"next"`     // the first of them, "" if there is none
	Schedule string `json:"schedule"` // from the start, through the present state, until it shows
}

// Away looks for a shortest way from the present state of a session to an anomaly, by what may still happen: faults too, as far as their
// budgets go.
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

// onward looks for the shortest way from a session's present state that has no further fault: to an anomaly, or to having escaped another.
func searchWithoutFaults(ctx context.Context, s *Session, avoided, goal explore.Anomaly, bounds explore.Bounds) (explore.Result, error) {
	return searchAfter(ctx, s, &explore.Continuation{Avoid: avoided}, goal, bounds)
}
