package report

import (
	"context"
	"strings"

	"lockstep/internal/explore"
)

// Outcome is what an exploration found, for a page: the document, and what a terminal says.
type Outcome struct {
	Document Document `json:"document"` // that --json prints
	Scenario string   `json:"scenario"` // as flags
	Says     string   `json:"says"`     // the verdict, without the flags
	Seen     string   `json:"seen"`     // how much was explored
	Tested   []string `json:"tested"`   // what was put to the test

	Shown []Schedule `json:"shown"` // the counterexamples of the document
}

// Outcome explores the lock. It prints nothing. To explain what was found may take as long again as the bound.
func (r Request) Outcome(ctx context.Context) (Outcome, error) {
	result, err := r.explore(ctx)
	if err != nil {
		return Outcome{}, err
	}
	if r.Bounds.Time > 0 {
		var enough context.CancelFunc
		ctx, enough = context.WithTimeout(ctx, r.Bounds.Time)
		defer enough()
	}
	whys, err := r.explainAll(ctx, result.Found)
	if err != nil {
		return Outcome{}, err
	}
	flags := result.Conditions() // a page shows the scenario beside the verdict, in words
	says := strings.NewReplacer(" ("+flags+")", "", "（"+flags+"）", "").Replace(r.verdict(result))
	outcome := Outcome{
		Document: document(result, whys), Scenario: r.Scenario.String(), Says: says, Seen: seen(result),
		Tested: append([]string{}, tested(result)...), Shown: []Schedule{},
	}
	for i, e := range result.Found {
		var why strings.Builder
		r.printReason(&why, whys[i])
		schedule := r.found(e)
		schedule.Broken, schedule.Why = r.broken(e), strings.TrimSpace(why.String())
		outcome.Shown = append(outcome.Shown, schedule)
	}
	return outcome, nil
}

// longest returns the steps of the longest schedule. A counterexample ends the search before all of its length are explored.
func longest(r explore.Result) int {
	steps := r.Depth
	for _, e := range r.Found {
		steps = max(steps, e.Length())
	}
	return steps
}
