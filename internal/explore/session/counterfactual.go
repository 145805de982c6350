package session

import (
	"context"
	"slices"
	"strings"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore"
	"lockstep/internal/strategy"
)

// Fate is a comparison that goes on to the end of the second lock's sales, and says whether that survives.
type Counterfactual struct {
	Comparison
	Anomaly       explore.Anomaly `json:"anomaly"` // that the first lock shows; "": none, or none that the second promises to prevent
	Outcome       Outcome         `json:"outcome"` // of the second
	Conditions    string          `json:"setting"` // in what no schedule of it shows the anomaly, if it never does
	OtherSchedule string          `json:"other"`   // a schedule of it that does, if it is lucky
}

// Outcome says whether the second lock shows what the first one does.
type Outcome string

// The outcomes. NeverShows, Lucky and Survives mean that it comes to the end of all sales in this schedule, and does not show the anomaly.
const (
	NeverShows     Outcome = "never"    // nor does any other schedule
	OtherwiseShows Outcome = "lucky"    // but another schedule shows it
	Survives       Outcome = "survives" // a bound was hit before all other schedules were seen; or there is no anomaly
	Shows          Outcome = "shows"    // it shows the anomaly, or will, whatever follows
	NeverEnds      Outcome = "stuck"    // it does not, but somebody never comes to the end
	Undecided      Outcome = "unknown"  // a bound was hit before it came to the end
)

// Follow compares a schedule under two locks, and lets the second go on by the shortest way to the end that has no further fault, and does
// not show what the first lock shows: this anomaly, or else its last. Then it looks for another schedule of the second lock that shows it.
// Each of its questions has these bounds.
func CompareToEnd(
	ctx context.Context, locks [2]strategy.Strategy, in explore.Scenario, schedule string, a explore.Anomaly, bounds explore.Bounds,
) (c Counterfactual, err error) {
	if c.Comparison, err = Compare(ctx, locks, in, schedule); err != nil {
		return c, err
	}
	for _, shown := range c.Shown[0] {
		if (a == "" || shown.Anomaly == a) && shown.Anomaly.IsPromisedBy(locks[1]) {
			c.Anomaly = shown.Anomaly
		}
	}
	if c.hasSecondShown(c.Anomaly) {
		c.Outcome = Shows
		return c, nil
	}
	if c.Outcome, err = c.continueSecond(ctx, locks[1], in, bounds); err != nil || c.Outcome != Survives || c.Anomaly == "" {
		return c, err
	}
	result, err := explore.Explore(ctx, locks[1], in, explore.Goal{Anomalies: []explore.Anomaly{c.Anomaly}}, bounds)
	switch {
	case err != nil:
	case len(result.Found) > 0:
		c.Outcome, c.OtherSchedule = OtherwiseShows, result.Found[0].Schedule()
	case result.Complete:
		c.Outcome, c.Conditions = NeverShows, result.Conditions()
		if but := result.Reservations(); but != "" {
			c.Conditions += in.Say(", ", "，") + but
		}
	}
	return c, err
}

// second reports whether the second lock has shown an anomaly.
func (c *Counterfactual) hasSecondShown(a explore.Anomaly) bool {
	return slices.ContainsFunc(c.Shown[1], func(shown explore.AnomalyHit) bool { return shown.Anomaly == a })
}

// goOn lets the second lock go on to the end, after all that both do.
func (c *Counterfactual) continueSecond(
	ctx context.Context, second strategy.Strategy, in explore.Scenario, bounds explore.Bounds,
) (Outcome, error) {
	session, err := New(second, in, c.Schedules[1])
	if err != nil {
		return Undecided, err
	}
	defer session.Close()
	path, result, err := searchCleanEnd(ctx, session, c.Anomaly, bounds)
	switch {
	case err != nil:
		return Undecided, err
	case path == nil && result.Complete:
		return Shows, nil
	case path == nil:
		return Undecided, nil
	}
	before := len(session.Path())
	if err := session.replay(strings.Join(append([]string{c.Schedules[1]}, path...), " ")); err != nil {
		return Undecided, err
	}
	end := session.Now()
	for i := range end.Steps[before:] {
		c.Rows = append(c.Rows, Row{nil, &end.Steps[before+i]})
	}
	c.recordResult(1, end.Recording)
	if c.hasSecondShown(anomaly.Stuck) {
		return NeverEnds, nil
	}
	return Survives, nil
}
