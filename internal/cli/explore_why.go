package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"lockstep/internal/explore"
	"lockstep/internal/explore/graph"
	"lockstep/internal/strategy"
)

// schedulesAsked bounds each question of --why, and of a distance.
const schedulesAsked = 20_000

// explain finds the point of no return, if that was asked for.
func (f exploreFlags) explain(ctx context.Context, s strategy.Strategy, schedule string, a explore.Anomaly) (*graph.Why, error) {
	if !f.why {
		return nil, nil //nolint:nilnil // nobody asked
	}
	why, err := graph.Explain(ctx, s, f.scenario, schedule, a, explore.Bounds{Schedules: schedulesAsked})
	return &why, err
}

// printWhy says it in a few sentences.
func printWhy(out io.Writer, why *graph.Why) {
	if why == nil {
		return
	}
	switch {
	case why.Point == 0 && len(why.Unsettled) > 0:
		fmt.Fprintf(out, "Why: it is not known when it was too late: the ways that were left were too many to look at.\n")
	case why.Point == 0:
		fmt.Fprintf(out, "Why: it was too late from the start. Every way shows %s, whatever the order.\n", why.Anomaly)
	default:
		fmt.Fprintf(out, "Why: step %d, %s, is the point of no return. From there on, every way shows %s.\n", why.Point, why.Token, why.Anomaly)
		fmt.Fprint(out, saves(why))
	}
	if len(why.Unsettled) > 0 {
		slices.Sort(why.Unsettled)
		fmt.Fprintf(out, "A later step may be it: before steps %s, %d schedules were not enough to tell.\n",
			strings.Trim(fmt.Sprint(why.Unsettled), "[]"), schedulesAsked)
	}
	fmt.Fprintf(out, "A way is one to the end, without a further fault (%d schedules were run to see them).\n", why.Schedules)
}

// saves says what would have saved it, and what else happens then.
func saves(why *graph.Why) string {
	var choices []string
	for _, s := range why.Saves {
		choices = append(choices, s.Token)
	}
	first := why.Saves[0]
	says := fmt.Sprintf("Instead, %s would have saved it: %s", strings.Join(choices, " or "), first.Says)
	if len(first.Way) > 0 {
		says += ", and then " + strings.Join(first.Way, " ")
	}
	says += "."
	if len(first.Shows) > 0 {
		says += fmt.Sprintf(" But that way shows %s.", strings.Trim(fmt.Sprint(first.Shows), "[]"))
	}
	return says + "\n"
}
