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
type Fate struct {
	Comparison
	Anomaly explore.Anomaly `json:"anomaly"` // that the first lock shows; "": none, or none that the second promises to prevent
	Outcome Outcome         `json:"outcome"` // of the second
	Setting string          `json:"setting"` // in what no schedule of it shows the anomaly, if it never does
	Other   string          `json:"other"`   // a schedule of it that does, if it is lucky
}

// Outcome says whether the second lock shows what the first one does.
type Outcome string

// The outcomes. NeverShows, Lucky and Survives mean that it comes to the end of all sales in this schedule, and does not show the anomaly.
const (
	NeverShows Outcome = "never"    // nor does any other schedule
	Lucky      Outcome = "lucky"    // but another schedule shows it
	Survives   Outcome = "survives" // a bound was hit before all other schedules were seen; or there is no anomaly
	Shows      Outcome = "shows"    // it shows the anomaly, or will, whatever follows
	NoEnd      Outcome = "stuck"    // it does not, but somebody never comes to the end
	Open       Outcome = "unknown"  // a bound was hit before it came to the end
)

// Follow compares a schedule under two locks, and lets the second go on by the shortest way to the end that has no further fault, and does
// not show what the first lock shows: this anomaly, or else its last. Then it looks for another schedule of the second lock that shows it.
// Each of its questions has these bounds.
func Follow(
	ctx context.Context, locks [2]strategy.Strategy, in explore.Scenario, schedule string, a explore.Anomaly, bounds explore.Bounds,
) (f Fate, err error) {
	if f.Comparison, err = Compare(ctx, locks, in, schedule); err != nil {
		return f, err
	}
	for _, shown := range f.Shown[0] {
		if (a == "" || shown.Anomaly == a) && shown.Anomaly.IsPromisedBy(locks[1]) {
			f.Anomaly = shown.Anomaly
		}
	}
	if f.second(f.Anomaly) {
		f.Outcome = Shows
		return f, nil
	}
	if f.Outcome, err = f.goOn(ctx, locks[1], in, bounds); err != nil || f.Outcome != Survives || f.Anomaly == "" {
		return f, err
	}
	result, err := explore.Explore(ctx, locks[1], in, explore.Goal{Anomalies: []explore.Anomaly{f.Anomaly}}, bounds)
	switch {
	case err != nil:
	case len(result.Found) > 0:
		f.Outcome, f.Other = Lucky, result.Found[0].Schedule()
	case result.Complete:
		f.Outcome, f.Setting = NeverShows, result.Conditions()
		if but := result.Reservations(); but != "" {
			f.Setting += in.Say(", ", "，") + but
		}
	}
	return f, err
}

// second reports whether the second lock has shown an anomaly.
func (f *Fate) second(a explore.Anomaly) bool {
	return slices.ContainsFunc(f.Shown[1], func(shown explore.AnomalyHit) bool { return shown.Anomaly == a })
}

// goOn lets the second lock go on to the end, after all that both do.
func (f *Fate) goOn(ctx context.Context, second strategy.Strategy, in explore.Scenario, bounds explore.Bounds) (Outcome, error) {
	session, err := New(second, in, f.Schedules[1])
	if err != nil {
		return Open, err
	}
	defer session.Close()
	way, seen, err := wayOn(ctx, session, f.Anomaly, bounds)
	switch {
	case err != nil:
		return Open, err
	case way == nil && seen.Complete:
		return Shows, nil
	case way == nil:
		return Open, nil
	}
	before := len(session.Path())
	if err := session.look(strings.Join(append([]string{f.Schedules[1]}, way...), " ")); err != nil {
		return Open, err
	}
	end := session.Now()
	for i := range end.Steps[before:] {
		f.Rows = append(f.Rows, Row{nil, &end.Steps[before+i]})
	}
	f.ended(1, end.Recording)
	if f.second(anomaly.Stuck) {
		return NoEnd, nil
	}
	return Survives, nil
}
