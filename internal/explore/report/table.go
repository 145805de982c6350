package report

import (
	"context"
	"fmt"
	"slices"
	"text/tabwriter"

	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/verdict"
	"lockstep/internal/web"
)

// ExploreAll explores every lock in every scenario of the table, and prints the table.
func (r Request) ExploreAll(ctx context.Context) (verdict.Verdict, error) {
	scenario, schedules, start := r.Scenario, 0, r.Now()
	progress := newProgress(r.Err, r.IsTerminal, r.Now)
	report := func(s explore.NamedScenario, now explore.Result, ended bool) {
		if ended {
			schedules += now.Schedules
		}
		progress.update(cellProgressText(s, now, scenario))
	}
	rows, err := explore.Tabulate(ctx, evolution.Table(), scenario.Actors, r.Bounds, report)
	progress.end()
	if err != nil {
		return verdict.Unknown, err
	}
	if r.JSON {
		if err := web.WriteJSON(r.Out, newTableDocument(rows, scenario.Actors, schedules)); err != nil {
			return verdict.Unknown, err
		}
	} else {
		r.printTable(rows)
		r.printLegend(schedules, isInterrupted(rows))
	}
	fmt.Fprint(r.Err, totalTimeText(schedules, r.Now().Sub(start), scenario))
	for i, row := range rows {
		hasOwnBound := evolution.Table()[i].OnNodes // explore.MaxSchedulesOnNodes leaves cells of such locks unknown
		if slices.ContainsFunc(row.Cells, func(c explore.AnomalyCell) bool {
			return c.Interrupted || !hasOwnBound && c.Verdict() == verdict.Unknown
		}) {
			return verdict.Unknown, nil
		}
	}
	return verdict.Holds, nil
}

// printTable prints a row for each lock and a column for each anomaly that at least one lock shows.
func (r Request) printTable(rows []explore.LockRow) {
	scenario := r.Scenario
	columns, unshown := []int{}, []string{}
	for i, cell := range rows[0].Cells {
		if slices.ContainsFunc(rows, func(row explore.LockRow) bool { return row.Cells[i].Verdict() == verdict.Broken }) {
			columns = append(columns, i)
		} else {
			unshown = append(unshown, string(cell.Anomaly)+unknownLocksText(scenario, rows, i))
		}
	}
	w := tabwriter.NewWriter(r.Out, 0, 0, 2, ' ', 0)
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
	_ = w.Flush() // The reader of a terminal sees that output is missing.
	if len(unshown) > 0 {
		fmt.Fprint(r.Out, preventedText(unshown, scenario))
	}
}

// isInterrupted reports whether the exploration of any cell was interrupted.
func isInterrupted(rows []explore.LockRow) bool {
	return slices.ContainsFunc(rows, func(r explore.LockRow) bool {
		return slices.ContainsFunc(r.Cells, func(c explore.AnomalyCell) bool { return c.Interrupted })
	})
}
