package graph

import (
	"context"
	"slices"

	"lockstep/internal/explore"
	"lockstep/internal/explore/search"
	"lockstep/internal/explore/stepper"
)

// Distances that are no number of steps.
const (
	Never   = -1 // no way shows the anomaly
	Unknown = -2 // a bound was hit before all ways were seen
)

// Distance is how far an anomaly is away.
type Distance struct {
	Anomaly  explore.Anomaly `json:"anomaly"`
	Steps    int             `json:"steps"`    // further, until it can show; 0: it was shown; or Never, or Unknown
	Schedule string          `json:"schedule"` // from the start until it shows, "" if there is none
}

// Away says how far an anomaly is away from the present state of a session, by what may still happen: faults too, as far as their budgets
// go.
func Away(ctx context.Context, s *stepper.Session, a explore.Anomaly, bounds explore.Bounds) (Distance, error) {
	if slices.ContainsFunc(s.Now().Shown, func(shown explore.Shown) bool { return shown.Anomaly == a }) {
		return Distance{a, 0, s.Now().Schedule}, nil
	}
	if s.Now().Over {
		return Distance{a, Never, ""}, nil
	}
	goal := search.Goal{Anomalies: []explore.Anomaly{a}}
	result, err := after(ctx, s, nil, goal, bounds)
	switch {
	case err != nil:
		return Distance{a, Unknown, ""}, err
	case len(result.Found) > 0:
		return Distance{a, result.Found[0].Length, result.Found[0].Schedule}, nil
	case result.Complete:
		return Distance{a, Never, ""}, nil
	default:
		return Distance{a, Unknown, ""}, nil
	}
}
