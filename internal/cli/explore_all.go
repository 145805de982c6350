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

// exploreAll prints the table of every strategy and property.
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
		fmt.Fprintf(cmd.OutOrStdout(), "\nA cell says which one of these is enough to break the property, and in how many steps:\n")
		for _, s := range explore.Scenarios(f.scenario.Actors) {
			fmt.Fprintf(cmd.OutOrStdout(), "  %-11s %s\n", s.Name, words(cmd.CommandPath()+" NAME", s.String()))
		}
		fmt.Fprintf(cmd.OutOrStdout(), "holds: none of them is, and nothing is left to explore. –: not promised. %d schedules.\n", schedules)
		fmt.Fprintf(cmd.OutOrStdout(), "Left out: %s, for its nodes make many more; explore it by itself.\n", strings.Join(leftOut, ", "))
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

func table(cmd *cobra.Command, rows []explore.Row) {
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	defer w.Flush() //nolint:errcheck // to a terminal: who reads it sees what is missing
	for _, p := range explore.Properties() {
		fmt.Fprintf(w, "\t%s", p)
	}
	fmt.Fprintln(w)
	for _, row := range rows {
		fmt.Fprint(w, row.Lock)
		for _, cell := range row.Cells {
			text := string(cell.Verdict())
			switch {
			case !cell.Applies:
				text = "–"
			case len(cell.Broken) > 0:
				first := cell.Broken[0]
				text = fmt.Sprintf("%s, %d", first.Scenario.Name, first.Length)
			}
			fmt.Fprintf(w, "\t%s", text)
		}
		fmt.Fprintln(w)
	}
}

// allJSON is the document of explore --all --json.
func allJSON(rows []explore.Row, leftOut []string, actors, schedules int) map[string]any {
	locks := map[string]any{}
	for _, row := range rows {
		cells := map[explore.Property]any{}
		for _, cell := range row.Cells {
			breaks := []map[string]any{}
			for _, found := range cell.Broken {
				breaks = append(breaks, map[string]any{
					"with": found.Scenario.Name, "flags": found.Scenario.String(), "length": found.Length, "schedule": found.Schedule,
				})
			}
			verdict := string(cell.Verdict())
			if !cell.Applies {
				verdict = "n/a"
			}
			cells[cell.Property] = map[string]any{"verdict": verdict, "breaks": breaks}
		}
		locks[row.Lock] = cells
	}
	return map[string]any{"actors": actors, "schedules": schedules, "locks": locks, "left_out": leftOut}
}
