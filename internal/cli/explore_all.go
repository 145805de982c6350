package cli

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/strategy"
)

// exploreAll prints the table of every strategy and anomaly.
func exploreAll(cmd *cobra.Command, f exploreFlags, bounds explore.Bounds) error {
	schedules, seconds := 0, 0.0
	var strategies []strategy.Strategy
	leftOut := []string{}
	for _, strategy := range evolution.Table() {
		if strategy.OnNodes { // some of these scenarios would take minutes
			leftOut = append(leftOut, strategy.Name)
		} else {
			strategies = append(strategies, strategy)
		}
	}
	rows, err := explore.All(cmd.Context(), strategies, f.scenario.Actors, bounds, func(s explore.NamedScenario, r explore.Result) {
		schedules += r.Schedules
		seconds += r.Seconds
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
		if err := writeJSON(cmd.OutOrStdout(), allJSON(rows, leftOut, f.scenario.Actors, schedules)); err != nil {
			return err
		}
	} else {
		table(cmd, rows)
		legend(cmd, f.scenario.Actors, schedules, leftOut)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%d schedules in %.1f s\n", schedules, seconds)
	for _, row := range rows {
		for _, cell := range row.Cells {
			if cell.Verdict() == explore.Unknown {
				return exitCode(exitTrouble)
			}
		}
	}
	return nil
}

// table prints a row for each strategy and a column for each anomaly.
func table(cmd *cobra.Command, rows []explore.Row) {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	defer w.Flush() //nolint:errcheck // to a terminal: who reads it sees what is missing
	for _, a := range explore.Anomalies() {
		fmt.Fprintf(w, "\t%s", a)
	}
	fmt.Fprintln(w)
	for _, row := range rows {
		fmt.Fprint(w, row.Lock)
		for _, cell := range row.Cells {
			fmt.Fprintf(w, "\t%s", cell)
		}
		fmt.Fprintln(w)
	}
}

// legend says what the table means.
func legend(cmd *cobra.Command, actors, schedules int, leftOut []string) {
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
		fmt.Fprintf(out, "  %-11s %s\n", s.Name, words(cmd.CommandPath()+" NAME", s.String()))
	}
	fmt.Fprintf(out, "\n%d schedules. Left out:\n", schedules)
	fmt.Fprintf(out, "  %-11s its nodes make many more schedules; explore it by itself\n", strings.Join(leftOut, ", "))
	for _, fault := range explore.AllFaults() {
		if fault.Beats {
			fmt.Fprintf(out, "  %-11s it breaks every lock on one Redis: %s v10 --faults %s=1\n", fault.Name, cmd.CommandPath(), fault.Name)
		}
	}
}
