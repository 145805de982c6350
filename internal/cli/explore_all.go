package cli

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"lockstep/internal/evolution"
	"lockstep/internal/explore"
)

// exploreAll prints the table of every strategy and anomaly.
func exploreAll(cmd *cobra.Command, f exploreFlags, bounds explore.Bounds) error {
	schedules, start := 0, time.Now()
	rows, err := explore.All(cmd.Context(), evolution.Table(), f.scenario.Actors, bounds, func(s explore.NamedScenario, r explore.Result) {
		schedules += r.Schedules
		if isTerminal(cmd.ErrOrStderr()) {
			fmt.Fprintf(cmd.ErrOrStderr(), "\r\033[K%s, %s: %d schedules", r.Lock, s.Name, r.Schedules)
		}
	})
	if isTerminal(cmd.ErrOrStderr()) {
		fmt.Fprint(cmd.ErrOrStderr(), "\r\033[K")
	}
	if err != nil {
		return err
	}
	if f.asJSON {
		if err := writeJSON(cmd.OutOrStdout(), allJSON(rows, f.scenario.Actors, schedules)); err != nil {
			return err
		}
	} else {
		table(cmd, rows)
		legend(cmd, f.scenario.Actors, schedules)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%d schedules in %.1f s\n", schedules, time.Since(start).Seconds())
	for i, row := range rows {
		for _, cell := range row.Cells {
			if cell.Verdict() == explore.Unknown && !evolution.Table()[i].OnNodes { // which has a bound of its own
				return exitCode(exitTrouble)
			}
		}
	}
	return nil
}

// table prints a row for each strategy and a column for each anomaly that any of them shows.
func table(cmd *cobra.Command, rows []explore.Row) {
	columns, never := []int{}, []string{}
	for i, cell := range rows[0].Cells {
		if slices.ContainsFunc(rows, func(r explore.Row) bool { return r.Cells[i].Verdict() == explore.Broken }) {
			columns = append(columns, i)
		} else {
			never = append(never, string(cell.Anomaly)+unknownFor(rows, i))
		}
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, i := range columns {
		fmt.Fprintf(w, "\t%s", rows[0].Cells[i].Anomaly)
	}
	fmt.Fprintln(w)
	for _, row := range rows {
		fmt.Fprint(w, row.Lock)
		for _, i := range columns {
			fmt.Fprintf(w, "\t%s", row.Cells[i])
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // to a terminal: who reads it sees what is missing
	if len(never) > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "\nNo lock that promises to prevent it shows: %s.\n", strings.Join(never, ", "))
	}
}

// unknownFor says of which locks it is unknown whether they show an anomaly, "" if of none.
func unknownFor(rows []explore.Row, anomaly int) string {
	var names []string
	for _, row := range rows {
		if c := row.Cells[anomaly]; c.Applies && c.Verdict() == explore.Unknown {
			names = append(names, row.Lock)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s: unknown)", strings.Join(names, ", "))
}

// legend says what the table means.
func legend(cmd *cobra.Command, actors, schedules int) {
	out := cmd.OutOrStdout()
	fmt.Fprint(out, "\nA row is a lock, a column an anomaly. A cell says when the lock shows the anomaly:\n"+indent(
		"expiry, 3    in the scenario \"expiry\", in 3 steps; no schedule of any scenario is shorter",
		"no fault, 4  without any fault, in 4 steps",
		"never        in no schedule of any scenario; all were explored",
		"unknown      a bound was hit before all schedules were explored",
		"–            this lock does not promise that the anomaly never happens",
	))
	fmt.Fprint(out, "\nThe anomalies:\n"+indent(anomalyHelp()...)+"\nThe scenarios:\n")
	for _, s := range explore.Scenarios(actors) {
		fmt.Fprintf(out, "  %-13s %s\n", s.Name, words(cmd.CommandPath()+" NAME", s.String()))
	}
	legendOnNodes(cmd, actors)
	fmt.Fprintf(out, "\n%d schedules. Left out, as they break every lock on one Redis:\n", schedules)
	for _, fault := range explore.AllFaults() {
		if fault.Beats {
			fmt.Fprintf(out, "  %-13s %s v10 --faults %s=1\n", fault.Name, cmd.CommandPath(), fault.Name)
		}
	}
}

// legendOnNodes says what else is so of locks on several masters.
func legendOnNodes(cmd *cobra.Command, actors int) {
	out := cmd.OutOrStdout()
	for _, s := range evolution.Table() {
		if !s.OnNodes {
			continue
		}
		fmt.Fprintf(out, "\nFor %s, every sale tries once, and a scenario has at most %d schedules: --try %d --max-schedules %[2]d.\n",
			s.Name, explore.SchedulesOnNodes, actors)
		fmt.Fprintln(out, "It has the faults of its masters, too:")
		for _, in := range explore.ScenariosOf(s, actors) {
			ofNode := func(f explore.Fault) bool { return f.OnNode && f.Name == in.Name }
			if slices.ContainsFunc(explore.AllFaults(), ofNode) {
				fmt.Fprintf(out, "  %-13s %s %s\n", in.Name, cmd.CommandPath(), words(s.Name, in.String()))
			}
		}
	}
}
