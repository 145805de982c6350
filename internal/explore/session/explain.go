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

// Why says when it was too late.
type Explanation struct {
	Anomaly         explore.Anomaly `json:"anomaly"`
	Step            int             `json:"step"`  // that shows it, counted from 1
	PointOfNoReturn int             `json:"point"` // the step from which on every way shows it; 0: from the start
	PointToken      string          `json:"token"` // that step, "" if there is none
	EnablingFault   int             `json:"turn"`  // the fault before which no way showed it; 0: some way always did
	EnablingToken   string          `json:"turn_token"`
	Escapes         []Escape        `json:"saves"`     // what could have happened instead, the smallest change first
	Undecided       []int           `json:"unsettled"` // later steps: whether a way was left before them is not known, as a bound was hit
	Schedules       int             `json:"schedules"` // that were run to find out
}

// Save is a choice that leads on without the anomaly.
type Escape struct {
	Token string            `json:"token"`
	Says  string            `json:"says"`
	Path  []string          `json:"way"`   // what follows it, to the end
	Shows []explore.Anomaly `json:"shows"` // other anomalies, on that way
}

// Explain finds the point of no return of a schedule that shows an anomaly. It asks for the state before each step, that of the last step
// first, whether a way without the anomaly is left: one to the end of all sales, with no further fault. And it asks before each fault, the
// last one first, whether a way shows it: that fault made it possible. Each question has these bounds.
func Explain(
	ctx context.Context, s strategy.Strategy, in explore.Scenario, schedule string, a explore.Anomaly, bounds explore.Bounds,
) (Explanation, error) {
	session, err := New(s, in, schedule)
	if err != nil {
		return Explanation{}, err
	}
	defer session.Close()
	i := slices.IndexFunc(session.Now().Hits, func(shown explore.AnomalyHit) bool { return shown.Anomaly == a })
	if i < 0 {
		return Explanation{}, explore.NewStaleError(in, notShownText(a, in))
	}
	result := Explanation{Anomaly: a, Step: session.Now().Hits[i].Step, Escapes: []Escape{}, Undecided: []int{}}
	e := explainer{session, bounds, &result}
	tokens, path := strings.Fields(session.Now().Schedule), session.Path()
	checkEnabled := true // that an earlier fault made it possible, as far as is known
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

// explanation is a Why in the making.
type explainer struct {
	session *Session // before the step that is asked about
	bounds  explore.Bounds
	result  *Explanation
}

// settle asks whether a way was left before a step: then it was too late after that.
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

// wasPossible asks whether a way showed the anomaly before a fault. If not, that made it possible.
func (e explainer) findEnablingFault(ctx context.Context, step int, token string) (bool, error) {
	result, err := searchWithoutFaults(ctx, e.session, "", e.result.Anomaly, e.bounds)
	e.result.Schedules += result.Schedules
	if err == nil && len(result.Found) == 0 && result.Complete {
		e.result.EnablingFault, e.result.EnablingToken = step, token
	}
	return len(result.Found) > 0, err
}

// save takes down the choices that would have saved the session.
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

// nearest returns the choices, that of the same command without its fault first: that is the smallest change.
func (e explainer) choicesByChange() []Choice {
	withoutFault, _, _ := strings.Cut(e.result.PointToken, "/")
	choices := slices.Clone(e.session.Now().Choices)
	if i := slices.IndexFunc(choices, func(c Choice) bool { return c.Token == withoutFault }); i > 0 {
		choices[0], choices[i] = choices[i], choices[0]
	}
	return choices
}

// others returns the anomalies that a way from the session's present state shows.
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

// way looks for the shortest way from the session's present state: nil if there is none, as far as that is settled.
func (e explainer) pathToCleanEnd(ctx context.Context) (path []string, isComplete bool, err error) {
	path, result, err := searchCleanEnd(ctx, e.session, e.result.Anomaly, e.bounds)
	e.result.Schedules += result.Schedules
	return path, result.Complete, err
}

// wayOn returns the shortest way from a session's present state to the end that does not show an anomaly; nil if none is found.
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
