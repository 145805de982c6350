package report

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
	"lockstep/internal/trace"
	"lockstep/internal/verdict"
	"lockstep/internal/web"
)

// Replay runs Schedule and prints the state after each step. The verdict is Broken if it shows an anomaly that is looked for.
func (r Request) Replay(ctx context.Context) (verdict.Verdict, error) {
	goal, err := r.goal()
	if err != nil {
		return verdict.Unknown, err
	}
	replayed, err := explore.Replay(r.Lock, r.Scenario, r.Schedule)
	replayed.Hits = slices.DeleteFunc(replayed.Hits, func(s explore.AnomalyHit) bool {
		return len(goal.Anomalies) > 0 && !slices.Contains(goal.Anomalies, s.Anomaly)
	})
	var why *session.Explanation
	if err == nil && len(replayed.Hits) > 0 {
		why, err = r.explain(ctx, r.Schedule, replayed.Anomaly())
	}
	if err := errors.Join(r.printReplayed(replayed, why), err); err != nil {
		return verdict.Unknown, err
	}
	messages := r.messageWriter()
	for _, s := range replayed.Hits {
		fmt.Fprint(messages, anomalyHitText(r.Scenario, s))
	}
	if len(replayed.Hits) > 0 {
		r.printExplanation(messages, why)
	} else {
		fmt.Fprintln(messages, noAnomalyText(r.Scenario))
	}
	return verdict.Search{Found: len(replayed.Hits) > 0, Complete: true}.Verdict(), r.writePage([]Schedule{r.newSchedule(replayed)})
}

// printReplayed prints the steps of a schedule in the requested form.
func (r Request) printReplayed(replayed explore.Recording, why *session.Explanation) error {
	switch {
	case r.JSON:
		steps := append([]trace.Step{}, replayed.Steps...)
		doc := map[string]any{"lock": r.Lock.Name, "schedule": r.Schedule, "steps": steps, "shown": replayed.Hits}
		if why != nil {
			doc["why"] = why
		}
		return web.WriteJSON(r.Out, doc)
	case r.Mermaid:
		fmt.Fprint(r.Out, replayed.Mermaid())
	case len(replayed.Steps) > 0:
		fmt.Fprint(r.Out, replayed.EachStep(true))
	}
	return nil
}
