package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"lockstep/internal/explore"
	"lockstep/internal/explore/graph"
	"lockstep/internal/explore/trace"
	"lockstep/internal/lock/strategy"
)

// replay runs one schedule.
func replay(cmd *cobra.Command, f exploreFlags, strategy strategy.Strategy, goal explore.Goal) error {
	replayed, err := explore.Replay(strategy, f.scenario, f.replay)
	shown := slices.DeleteFunc(replayed.Shown, func(s explore.Shown) bool {
		return len(goal.Anomalies) > 0 && !slices.Contains(goal.Anomalies, s.Anomaly)
	})
	var why *graph.Why
	if err == nil && len(shown) > 0 {
		why, err = f.explain(cmd.Context(), strategy, f.replay, shown[0].Anomaly)
	}
	out := cmd.OutOrStdout()
	switch {
	case f.asJSON:
		steps := append([]trace.Step{}, replayed.Steps...)
		doc := map[string]any{"lock": strategy.Name, "schedule": f.replay, "steps": steps, "shown": append([]explore.Shown{}, shown...)}
		if why != nil {
			doc["why"] = why
		}
		if err := errors.Join(writeJSON(out, doc), err); err != nil {
			return err
		}
	case f.mermaid:
		fmt.Fprint(out, replayed.Mermaid())
	default:
		fmt.Fprint(out, replayed.EachStep(true))
	}
	if err != nil {
		return err
	}
	people := out
	if f.asJSON || f.mermaid {
		people = cmd.ErrOrStderr()
	}
	for _, s := range shown {
		fmt.Fprint(people, shows(f.scenario, s))
	}
	var told error
	if len(shown) > 0 {
		f.printWhy(people, why)
		told = exitCode(exitBroken)
	} else {
		fmt.Fprintln(people, f.scenario.Say("This schedule shows no anomaly.", "这个时序没有出现异常。"))
	}
	return cmp.Or(f.writeReplayed(cmd, strategy, replayed.Trace, shown), told)
}

// shows is a line that tells of an anomaly.
func shows(in explore.Scenario, s explore.Shown) string {
	return in.Say("  ✗  step %d shows %s: %s\n", "  ✗  第 %d 步出现 %s：%s\n", s.Step, s.Anomaly, s.Says)
}
