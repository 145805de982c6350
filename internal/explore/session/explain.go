package session

import (
	"context"
	"slices"
	"strings"

	"lockstep/internal/explore"
	"lockstep/internal/explore/fault"
	"lockstep/internal/explore/search"
	"lockstep/internal/strategy"
)

// Explanation tells which steps of a schedule made an anomaly possible and unavoidable.
type Explanation struct {
	Anomaly         explore.Anomaly `json:"anomaly"`    // anomaly that is explained
	Step            int             `json:"step"`       // 1-based step that shows the anomaly
	PointOfNoReturn int             `json:"point"`      // 1-based step after which every path shows the anomaly; 0: none is known
	PointToken      string          `json:"token"`      // token of the step PointOfNoReturn; "": none
	EnablingFault   int             `json:"turn"`       // 1-based step of the fault before which no path shows the anomaly; 0: none
	EnablingToken   string          `json:"turn_token"` // token of the step EnablingFault; "": none
	Escapes         []Escape        `json:"saves"`      // choices instead of PointToken that avoid the anomaly, the smallest change first
	Undecided       []int           `json:"unsettled"`  // later steps that may be the point of no return instead, because a bound was hit
	Schedules       int             `json:"schedules"`  // number of schedules run for this explanation
}

// Escape is a choice from which a path leads to the end of all sales without the anomaly.
type Escape struct {
	Token string            `json:"token"` // notation of the choice in schedules
	Says  string            `json:"says"`  // description of the choice
	Path  []string          `json:"way"`   // tokens of the steps after the choice, to the end
	Shows []explore.Anomaly `json:"shows"` // other anomalies on that path
}

// Explain finds the point of no return of a schedule that shows an anomaly. It goes backwards from the step that shows the anomaly. From
// the state before each step, it searches for a path to the end of all sales without the anomaly and without further faults. The point of
// no return is the last step before which there is such a path. Explain also finds the fault that made the anomaly possible: no path
// without that fault shows the anomaly. The bounds apply to each search. Explain fails with explore.ErrStale if the schedule does not show
// the anomaly.
func Explain(
	ctx context.Context, s strategy.Strategy, scenario explore.Scenario, schedule string, a explore.Anomaly, bounds explore.Bounds,
) (Explanation, error) {
	session, err := New(s, scenario, schedule)
	if err != nil {
		return Explanation{}, err
	}
	defer session.Close()
	i := slices.IndexFunc(session.Now().Hits, func(shown explore.AnomalyHit) bool { return shown.Anomaly == a })
	if i < 0 {
		return Explanation{}, explore.NewStaleError(scenario, notShownText(a, scenario))
	}
	result := Explanation{Anomaly: a, Step: session.Now().Hits[i].Step, Escapes: []Escape{}, Undecided: []int{}}
	e := explainer{session, bounds, &result}
	tokens, path := strings.Fields(session.Now().Schedule), session.Path()
	checkEnabled := true // the fault that made the anomaly possible may be earlier than the faults checked so far
	for n := len(path); n > 0 && (checkEnabled || result.PointOfNoReturn == 0); n-- {
		if !session.Undo() {
			return result, explore.ErrUnrepeatable
		}
		if n > result.Step {
			continue
		}
		if result.PointOfNoReturn == 0 {
			err = e.tryPointOfNoReturn(ctx, n, tokens[n-1])
		}
		if err == nil && checkEnabled && path[n-1].Kind.Budget() != fault.None {
			checkEnabled, err = e.findEnablingFault(ctx, n, tokens[n-1])
		}
		if err != nil {
			return result, err
		}
	}
	return result, nil
}

// explainer computes an Explanation.
type explainer struct {
	session *Session       // positioned before the step in question
	bounds  explore.Bounds // bounds of each search
	result  *Explanation   // explanation so far
}

// tryPointOfNoReturn searches for a path without the anomaly before a step. If there is one, that step is the point of no return.
func (e explainer) tryPointOfNoReturn(ctx context.Context, step int, token string) error {
	path, isComplete, err := e.pathToCleanEnd(ctx)
	switch {
	case err != nil:
		return err
	case path != nil:
		e.result.PointOfNoReturn, e.result.PointToken = step, token
		return e.addEscapes(ctx)
	case !isComplete:
		e.result.Undecided = append(e.result.Undecided, step)
	}
	return nil
}

// findEnablingFault searches for a path to the anomaly before a fault. If there is none, that fault made the anomaly possible. Otherwise it
// returns true, because an earlier fault may have done so.
func (e explainer) findEnablingFault(ctx context.Context, step int, token string) (bool, error) {
	result, err := searchWithoutFaults(ctx, e.session, "", e.result.Anomaly, e.bounds)
	e.result.Schedules += result.Schedules
	if err == nil && len(result.Found) == 0 && result.Complete {
		e.result.EnablingFault, e.result.EnablingToken = step, token
	}
	return len(result.Found) > 0, err
}

// addEscapes records the choices in the session's present state from which a path leads to an end without the anomaly.
func (e explainer) addEscapes(ctx context.Context) error {
	for _, c := range e.choicesByChange() {
		if c.Token == e.result.PointToken || c.Fault != "" || slices.Contains(c.Shows, e.result.Anomaly) {
			continue
		}
		if err := e.session.Take(c.Token); err != nil {
			return err
		}
		path, _, err := e.pathToCleanEnd(ctx)
		e.session.Undo()
		if err != nil {
			return err
		}
		if path != nil {
			shows, err := e.otherAnomalies(c.Token, path)
			if err != nil {
				return err
			}
			e.result.Escapes = append(e.result.Escapes, Escape{c.Token, c.Says, path, shows})
		}
	}
	return nil
}

// choicesByChange returns the choices with the smallest change first: the same command without its fault.
func (e explainer) choicesByChange() []Choice {
	withoutFault, _, _ := strings.Cut(e.result.PointToken, "/")
	choices := slices.Clone(e.session.Now().Choices)
	if i := slices.IndexFunc(choices, func(c Choice) bool { return c.Token == withoutFault }); i > 0 {
		choices[0], choices[i] = choices[i], choices[0]
	}
	return choices
}

// otherAnomalies returns the anomalies that a choice and the path after it show.
func (e explainer) otherAnomalies(choice string, path []string) ([]explore.Anomaly, error) {
	schedule := strings.Join(append([]string{e.session.Now().Schedule, choice}, path...), " ")
	replayed, err := explore.Replay(e.session.Strategy(), e.session.Scenario(), schedule)
	shows := []explore.Anomaly{}
	for _, shown := range replayed.Hits {
		if shown.Step > len(e.session.Path()) {
			shows = append(shows, shown.Anomaly)
		}
	}
	return shows, err
}

// pathToCleanEnd returns a shortest path to the end of all sales that does not show the anomaly; nil if none was found. isComplete reports
// whether the search was complete.
func (e explainer) pathToCleanEnd(ctx context.Context) (path []string, isComplete bool, err error) {
	path, result, err := searchCleanEnd(ctx, e.session, e.result.Anomaly, e.bounds)
	e.result.Schedules += result.Schedules
	return path, result.Complete, err
}

// searchCleanEnd returns a shortest path from a session's state to the end of all sales that does not show an anomaly; nil if none was
// found.
func searchCleanEnd(ctx context.Context, s *Session, avoided explore.Anomaly, bounds explore.Bounds) ([]string, explore.Result, error) {
	if s.Now().Over {
		return []string{}, explore.Result{Result: search.Result{Complete: true}}, nil
	}
	result, err := searchWithoutFaults(ctx, s, avoided, explore.CleanEnd, bounds)
	if err != nil || len(result.Found) == 0 {
		return nil, result, err
	}
	return strings.Fields(result.Found[0].Schedule())[len(s.path):], result, nil
}
