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
type Why struct {
	Anomaly   explore.Anomaly `json:"anomaly"`
	Step      int             `json:"step"`  // that shows it, counted from 1
	Point     int             `json:"point"` // the step from which on every way shows it; 0: from the start
	Token     string          `json:"token"` // that step, "" if there is none
	Turn      int             `json:"turn"`  // the fault before which no way showed it; 0: some way always did
	TurnToken string          `json:"turn_token"`
	Saves     []Save          `json:"saves"`     // what could have happened instead, the smallest change first
	Unsettled []int           `json:"unsettled"` // later steps: whether a way was left before them is not known, as a bound was hit
	Schedules int             `json:"schedules"` // that were run to find out
}

// Save is a choice that leads on without the anomaly.
type Save struct {
	Token string            `json:"token"`
	Says  string            `json:"says"`
	Way   []string          `json:"way"`   // what follows it, to the end
	Shows []explore.Anomaly `json:"shows"` // other anomalies, on that way
}

// Explain finds the point of no return of a schedule that shows an anomaly. It asks for the state before each step, that of the last step
// first, whether a way without the anomaly is left: one to the end of all sales, with no further fault. And it asks before each fault, the
// last one first, whether a way shows it: that fault made it possible. Each question has these bounds.
func Explain(
	ctx context.Context, s strategy.Strategy, in explore.Scenario, schedule string, a explore.Anomaly, bounds explore.Bounds,
) (Why, error) {
	session, err := New(s, in, schedule)
	if err != nil {
		return Why{}, err
	}
	defer session.Close()
	i := slices.IndexFunc(session.Now().Hits, func(shown explore.AnomalyHit) bool { return shown.Anomaly == a })
	if i < 0 {
		return Why{}, explore.NewStaleError(in, notShown(a, in))
	}
	why := Why{Anomaly: a, Step: session.Now().Hits[i].Step, Saves: []Save{}, Unsettled: []int{}}
	e := explanation{session, bounds, &why}
	tokens, path := strings.Fields(session.Now().Schedule), session.Path()
	possible := true // that an earlier fault made it possible, as far as is known
	for n := len(path); n > 0 && (possible || why.Point == 0); n-- {
		if !session.Undo() {
			return why, explore.ErrUnrepeatable
		}
		if n > why.Step {
			continue
		}
		if why.Point == 0 {
			err = e.settle(ctx, n, tokens[n-1])
		}
		if err == nil && possible && path[n-1].Kind.Budget() != fault.None {
			possible, err = e.wasPossible(ctx, n, tokens[n-1])
		}
		if err != nil {
			return why, err
		}
	}
	return why, nil
}

// explanation is a Why in the making.
type explanation struct {
	session *Session // before the step that is asked about
	bounds  explore.Bounds
	why     *Why
}

// settle asks whether a way was left before a step: then it was too late after that.
func (e explanation) settle(ctx context.Context, step int, token string) error {
	way, settled, err := e.way(ctx)
	switch {
	case err != nil:
		return err
	case way != nil:
		e.why.Point, e.why.Token = step, token
		return e.save(ctx)
	case !settled:
		e.why.Unsettled = append(e.why.Unsettled, step)
	}
	return nil
}

// wasPossible asks whether a way showed the anomaly before a fault. If not, that made it possible.
func (e explanation) wasPossible(ctx context.Context, step int, token string) (bool, error) {
	result, err := onward(ctx, e.session, "", e.why.Anomaly, e.bounds)
	e.why.Schedules += result.Schedules
	if err == nil && len(result.Found) == 0 && result.Complete {
		e.why.Turn, e.why.TurnToken = step, token
	}
	return len(result.Found) > 0, err
}

// save takes down the choices that would have saved the session.
func (e explanation) save(ctx context.Context) error {
	for _, c := range e.nearest() {
		if c.Token == e.why.Token || c.Fault != "" || slices.Contains(c.Shows, e.why.Anomaly) {
			continue
		}
		if err := e.session.Take(c.Token); err != nil {
			return err
		}
		way, _, err := e.way(ctx)
		e.session.Undo()
		if err != nil {
			return err
		}
		if way != nil {
			shows, err := e.others(c.Token, way)
			if err != nil {
				return err
			}
			e.why.Saves = append(e.why.Saves, Save{c.Token, c.Says, way, shows})
		}
	}
	return nil
}

// nearest returns the choices, that of the same command without its fault first: that is the smallest change.
func (e explanation) nearest() []Choice {
	same, _, _ := strings.Cut(e.why.Token, "/")
	choices := slices.Clone(e.session.Now().Choices)
	if i := slices.IndexFunc(choices, func(c Choice) bool { return c.Token == same }); i > 0 {
		choices[0], choices[i] = choices[i], choices[0]
	}
	return choices
}

// others returns the anomalies that a way from the session's present state shows.
func (e explanation) others(choice string, way []string) ([]explore.Anomaly, error) {
	schedule := strings.Join(append([]string{e.session.Now().Schedule, choice}, way...), " ")
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
func (e explanation) way(ctx context.Context) (way []string, settled bool, err error) {
	way, result, err := wayOn(ctx, e.session, e.why.Anomaly, e.bounds)
	e.why.Schedules += result.Schedules
	return way, result.Complete, err
}

// wayOn returns the shortest way from a session's present state to the end that does not show an anomaly; nil if none is found.
func wayOn(ctx context.Context, s *Session, avoid explore.Anomaly, bounds explore.Bounds) ([]string, explore.Result, error) {
	if s.Now().Over {
		return []string{}, explore.Result{Result: search.Result{Complete: true}}, nil
	}
	result, err := onward(ctx, s, avoid, explore.CleanEnd, bounds)
	if err != nil || len(result.Found) == 0 {
		return nil, result, err
	}
	return strings.Fields(result.Found[0].Schedule())[len(s.path):], result, nil
}
