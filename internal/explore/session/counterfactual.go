package session

import (
	"context"
	"slices"
	"strings"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore"
	"lockstep/internal/strategy"
)

// Counterfactual describes what would have happened under another lock: a comparison, continued to the end of the second lock's sales.
type Counterfactual struct {
	Comparison
	Anomaly       explore.Anomaly `json:"anomaly"` // anomaly of the first lock that the second promises to prevent; "": none
	Outcome       Outcome         `json:"outcome"` // result of the second lock
	Conditions    string          `json:"setting"` // scenario and caveats of the outcome NeverShows; "": another outcome
	OtherSchedule string          `json:"other"`   // schedule of the second lock that shows the anomaly; "": Outcome is not OtherwiseShows
}

// Outcome tells whether the second lock shows the anomaly of the first.
type Outcome string

// The outcomes. With the first three, all sales of this schedule end under the second lock without the anomaly.
const (
	NeverShows     Outcome = "never"    // no other schedule shows the anomaly, either
	OtherwiseShows Outcome = "lucky"    // another schedule shows the anomaly
	Survives       Outcome = "survives" // other schedules may show the anomaly, because a bound was hit; or Anomaly is ""
	Shows          Outcome = "shows"    // the second lock shows the anomaly, or must show it later
	NeverEnds      Outcome = "stuck"    // the anomaly is not shown, but a sale never ends
	Undecided      Outcome = "unknown"  // a bound was hit before the end of all sales
)

// CompareToEnd compares a schedule under two locks, and continues the second one on a shortest path to the end of its sales, without
// further faults and without the anomaly a. If a is "", it takes the last anomaly that the first lock shows. If there is such a path, it
// searches for another schedule of the second lock that shows the anomaly. The bounds apply to each of these searches.
func CompareToEnd(
	ctx context.Context, locks [2]strategy.Strategy, scenario explore.Scenario, schedule string, a explore.Anomaly, bounds explore.Bounds,
) (c Counterfactual, err error) {
	if c.Comparison, err = Compare(ctx, locks, scenario, schedule); err != nil {
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
	if c.Outcome, err = c.continueSecond(ctx, locks[1], scenario, bounds); err != nil || c.Outcome != Survives || c.Anomaly == "" {
		return c, err
	}
	result, err := explore.Explore(ctx, locks[1], scenario, explore.Goal{Anomalies: []explore.Anomaly{c.Anomaly}}, bounds)
	switch {
	case err != nil:
	case len(result.Found) > 0:
		c.Outcome, c.OtherSchedule = OtherwiseShows, result.Found[0].Schedule()
	case result.Complete:
		c.Outcome, c.Conditions = NeverShows, result.Conditions()
		if but := result.Caveats(); but != "" {
			c.Conditions += scenario.Say(", ", "，") + but
		}
	}
	return c, err
}

// hasSecondShown reports whether the second lock has shown an anomaly.
func (c *Counterfactual) hasSecondShown(a explore.Anomaly) bool {
	return slices.ContainsFunc(c.Shown[1], func(shown explore.AnomalyHit) bool { return shown.Anomaly == a })
}

// continueSecond continues the second lock to the end of its sales, and appends a row for each step.
func (c *Counterfactual) continueSecond(
	ctx context.Context, second strategy.Strategy, scenario explore.Scenario, bounds explore.Bounds,
) (Outcome, error) {
	session, err := New(second, scenario, c.Schedules[1])
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
