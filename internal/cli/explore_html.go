package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"lockstep/internal/explore"
	"lockstep/internal/explore/trace"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/web"
)

// writeFound writes the counterexamples as a document, if --html was given.
func (f exploreFlags) writeFound(cmd *cobra.Command, s strategy.Strategy, found []explore.Counterexample) error {
	var all []web.Schedule
	for _, e := range found {
		all = append(all, web.Schedule{
			Anomaly: string(e.Anomaly), Says: e.Anomaly.Says().In(f.language), Length: e.Length, Trace: e.Trace, Replay: f.replays(cmd, s,
				e.Schedule),
		})
	}
	return f.writeSchedules(cmd, s, all)
}

// writeReplayed writes a schedule as a document, if --html was given, with the anomaly that it shows first.
func (f exploreFlags) writeReplayed(cmd *cobra.Command, s strategy.Strategy, t trace.Trace, shown []explore.Shown) error {
	schedule := web.Schedule{Trace: t, Replay: f.replays(cmd, s, f.replay)}
	if len(shown) > 0 {
		schedule.Anomaly, schedule.Says = string(shown[0].Anomaly), shown[0].Anomaly.Says().In(f.language)
		schedule.Trace.Verdict = cmp.Or(t.Verdict, shown[0].Says)
	}
	return f.writeSchedules(cmd, s, []web.Schedule{schedule})
}

func (f exploreFlags) writeSchedules(cmd *cobra.Command, s strategy.Strategy, all []web.Schedule) error {
	switch {
	case f.file == nil:
		return nil
	case len(all) == 0:
		fmt.Fprintf(cmd.ErrOrStderr(), "%s is not written: there is no schedule to show\n", f.html)
		return nil
	}
	document, err := web.Document(web.KindSchedules, "lockstep: "+s.Name, web.Schedules{
		Lock: s.Name, Title: s.Title.In(f.language), Scenario: f.scenario.String(), Schedules: all,
	}, f.language)
	if err != nil {
		return err
	}
	return f.file.write(document)
}

// replays is the command that replays a schedule.
func (f exploreFlags) replays(cmd *cobra.Command, s strategy.Strategy, schedule string) string {
	return fmt.Sprintf("%s %s --replay %q", cmd.CommandPath(), words(s.Name, f.scenario.String()), schedule)
}
