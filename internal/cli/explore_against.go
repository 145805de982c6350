package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"lockstep/internal/explore"
	"lockstep/internal/explore/stepper"
	"lockstep/internal/explore/trace"
	"lockstep/internal/lock/strategy"
)

const columnWidth = 46 // of each lock

// compare runs a schedule of one lock under another one too: the one given by --replay, or the shortest that shows an anomaly.
func compare(cmd *cobra.Command, f exploreFlags, first strategy.Strategy, goal explore.Goal, bounds explore.Bounds) error {
	second, err := findLock(f.against)
	if err != nil {
		return err
	}
	schedule := f.replay
	if schedule == "" {
		result, err := f.explore(cmd, first, goal, bounds)
		if err != nil {
			return err
		}
		if result.Bound != "" && len(result.Found) == 0 {
			return fmt.Errorf("against: the exploration of %s ended early: %s", first.Name, result.Bound)
		}
		if len(result.Found) == 0 {
			return fmt.Errorf("against: %s has shown %s here in no schedule: --replay takes the one to compare", first.Name, f.lookedFor())
		}
		schedule = result.Found[0].Schedule
	}
	c, err := stepper.Compare([2]strategy.Strategy{first, second}, f.scenario, schedule)
	if err != nil {
		return err
	}
	if f.asJSON {
		err = writeJSON(cmd.OutOrStdout(), c)
	} else {
		f.printComparison(cmd.OutOrStdout(), c)
	}
	if err == nil && c.Differs > 0 {
		err = exitCode(exitBroken)
	}
	return err
}

func (f exploreFlags) printComparison(out io.Writer, c stepper.Comparison) {
	say := f.scenario.Say
	fmt.Fprintf(out, "     %-*s   %s\n", columnWidth, c.Locks[0], c.Locks[1])
	for i, row := range c.Rows {
		mark := "  "
		if i+1 == c.Differs {
			mark = "≠ "
		}
		first, second := f.cell(row[0]), f.cell(row[1])
		for j := range max(len(first), len(second)) {
			number := "     "
			if j == 0 {
				number = fmt.Sprintf("%s%2d ", mark, i+1)
			}
			line := number + pad(lineOf(first, j)) + "   " + lineOf(second, j)
			fmt.Fprintln(out, strings.TrimRight(line, " "))
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

// cell is a step in a column: its token, what it means, and what is so after it.
func (f exploreFlags) cell(s *trace.Step) []string {
	if s == nil {
		return []string{"–"}
	}
	lines := []string{s.Token}
	if s.Says != "" {
		lines = append(lines, trace.Wrap(s.Says, columnWidth, "")...)
	}
	return append(lines, "["+s.State(f.scenario.Language)+"]")
}

func lineOf(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

func pad(text string) string {
	return text + strings.Repeat(" ", max(columnWidth-uniseg.StringWidth(text), 0))
}
