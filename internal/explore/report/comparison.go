package report

import (
	"context"
	"fmt"
	"strings"

	"github.com/rivo/uniseg"

	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
	"lockstep/internal/language"
	"lockstep/internal/strategy"
	"lockstep/internal/trace"
	"lockstep/internal/verdict"
	"lockstep/internal/web"
)

const columnWidth = 46 // terminal columns for each lock; two locks fit into 100

// Compare runs a schedule of the lock also under Against, and prints both runs. The schedule is Schedule or, if that is "", the shortest
// counterexample. The verdict is Broken if a step differs.
func (r Request) Compare(ctx context.Context) (verdict.Verdict, error) {
	schedule, anomaly := r.Schedule, r.Anomaly
	if _, err := r.goal(); err != nil {
		return verdict.Unknown, err
	}
	if schedule == "" {
		result, err := r.explore(ctx)
		switch {
		case err != nil:
			return verdict.Unknown, err
		case len(result.Found) > 0:
			schedule, anomaly = result.Found[0].Schedule(), result.Found[0].Anomaly()
		case result.Bound() != "":
			return verdict.Unknown, language.Translate(fmt.Errorf("against: the exploration of %s ended early: %s", r.Lock.Name, result.Bound()),
				"against：%s 的%s", r.Lock.Name, result.EndedEarly())
		default:
			return verdict.Unknown, language.Translate(
				fmt.Errorf("against: no schedule in which %s shows %s was found: pass the schedule to compare with --replay",
					r.Lock.Name, r.goalName()),
				"against：没有找到时序让 %s 出现%s；请用 --replay 指定要对比的时序", r.Lock.Name, r.goalName())
		}
	}
	locks := [2]strategy.Strategy{r.Lock, r.Against}
	c, err := session.CompareToEnd(ctx, locks, r.Scenario, schedule, anomaly, explore.Bounds{Schedules: maxSchedulesPerQuestion})
	if err != nil {
		return verdict.Unknown, err
	}
	if r.JSON {
		err = web.WriteJSON(r.Out, c)
	} else {
		r.printComparison(c, ctx.Err() != nil)
	}
	return verdict.Search{Found: c.FirstDifference > 0, Complete: true}.Verdict(), err
}

// printComparison prints the rows of a comparison in two columns, then the differences and the outcome.
func (r Request) printComparison(c session.Counterfactual, interrupted bool) {
	out := r.Out
	fmt.Fprintf(out, "     %-*s   %s\n", columnWidth, c.Locks[0], c.Locks[1])
	for i, row := range c.Rows {
		mark := "  "
		if i+1 == c.FirstDifference {
			mark = "≠ "
		}
		number, columns := fmt.Sprintf("%s%2d ", mark, i+1), [2][]string{r.comparisonCell(row[0]), r.comparisonCell(row[1])}
		for j := range max(len(columns[0]), len(columns[1])) {
			var texts [2]string // columns of this line
			for k, lines := range columns {
				if j < len(lines) {
					texts[k] = lines[j]
				}
			}
			padding := strings.Repeat(" ", max(columnWidth-uniseg.StringWidth(texts[0]), 0))
			fmt.Fprintln(out, strings.TrimRight(number+texts[0]+padding+"   "+texts[1], " "))
			number = "     "
		}
	}
	fmt.Fprintln(out)
	fmt.Fprint(out, r.differencesText(c), r.outcomeText(c, interrupted))
}

// comparisonCell returns the lines of a step in a column: its token, its description, and the state after it.
func (r Request) comparisonCell(s *trace.Step) []string {
	if s == nil {
		return []string{"–"}
	}
	lines := []string{s.Token}
	if s.Says != "" {
		lines = append(lines, trace.Wrap(s.Says, columnWidth, "")...)
	}
	return append(lines, "["+s.State(r.Scenario.Language)+"]")
}
