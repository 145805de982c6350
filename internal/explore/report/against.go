package report

import (
	"context"
	"fmt"
	"strings"

	"github.com/rivo/uniseg"

	"lockstep/internal/explore"
	"lockstep/internal/explore/stepper"
	"lockstep/internal/explore/trace"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/web"
)

const columnWidth = 46 // of each lock

// Compare runs a schedule of the lock under another one too: the one to replay, or the shortest that shows an anomaly. The verdict is
// Broken if a step differs.
func (r Request) Compare(ctx context.Context) (explore.Verdict, error) {
	schedule := r.Schedule
	if _, err := r.goal(); err != nil {
		return explore.Unknown, err
	}
	if schedule == "" {
		result, err := r.explore(ctx)
		r.Scenario = result.Scenario
		switch {
		case err != nil:
			return explore.Unknown, err
		case len(result.Found) > 0:
			schedule = result.Found[0].Schedule
		case result.Bound != "":
			return explore.Unknown, fmt.Errorf("against: the exploration of %s ended early: %s", r.Lock.Name, result.Bound)
		default:
			return explore.Unknown, fmt.Errorf("against: %s has shown %s here in no schedule: --replay takes the one to compare",
				r.Lock.Name, r.lookedFor())
		}
	}
	c, err := stepper.Compare([2]strategy.Strategy{r.Lock, r.Against}, r.Scenario, schedule)
	if err != nil {
		return explore.Unknown, err
	}
	if r.JSON {
		err = web.WriteJSON(r.Out, c)
	} else {
		r.printComparison(c)
	}
	if c.Differs > 0 {
		return explore.Broken, err
	}
	return explore.Holds, err
}

func (r Request) printComparison(c stepper.Comparison) {
	out, say := r.Out, r.Scenario.Say
	fmt.Fprintf(out, "     %-*s   %s\n", columnWidth, c.Locks[0], c.Locks[1])
	for i, row := range c.Rows {
		mark := "  "
		if i+1 == c.Differs {
			mark = "≠ "
		}
		number, columns := fmt.Sprintf("%s%2d ", mark, i+1), [2][]string{r.cell(row[0]), r.cell(row[1])}
		for j := range max(len(columns[0]), len(columns[1])) {
			var texts [2]string // of this line
			for k, lines := range columns {
				if j < len(lines) {
					texts[k] = lines[j]
				}
			}
			room := strings.Repeat(" ", max(columnWidth-uniseg.StringWidth(texts[0]), 0))
			fmt.Fprintln(out, strings.TrimRight(number+texts[0]+room+"   "+texts[1], " "))
			number = "     "
		}
	}
	fmt.Fprintln(out)
	if c.Differs == 0 {
		fmt.Fprint(out, say("No step differs: both do the same, to the end of this schedule.\n", "每一步都相同：直到时序结束，两种锁做的一样。\n"))
		return
	}
	fmt.Fprint(out, say("Row %d is the first that differs.\n", "第 %d 行开始不同。\n", c.Differs))
	for _, why := range c.Why {
		fmt.Fprint(out, say("%s.\n", "%s。\n", why))
	}
}

// cell writes a step into a column: its token, what it means, and what is so after it.
func (r Request) cell(s *trace.Step) []string {
	if s == nil {
		return []string{"–"}
	}
	lines := []string{s.Token}
	if s.Says != "" {
		lines = append(lines, trace.Wrap(s.Says, columnWidth, "")...)
	}
	return append(lines, "["+s.State(r.Scenario.Language)+"]")
}
