package report

import (
	"context"
	"fmt"
	"strings"

	"github.com/rivo/uniseg"

	"lockstep/internal/explore"
	"lockstep/internal/explore/session"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/lock/verdict"
	"lockstep/internal/trace"
	"lockstep/internal/web"
)

const columnWidth = 46 // of each lock

// Compare runs a schedule of the lock under another one too: the one to replay, or the shortest that shows an anomaly. The verdict is
// Broken if a step differs.
func (r Request) Compare(ctx context.Context) (verdict.Verdict, error) {
	schedule, shows := r.Schedule, r.Anomaly
	if _, err := r.goal(); err != nil {
		return verdict.Unknown, err
	}
	if schedule == "" {
		result, err := r.explore(ctx)
		r.Scenario = result.Scenario
		switch {
		case err != nil:
			return verdict.Unknown, err
		case len(result.Found) > 0:
			schedule, shows = result.Found[0].Schedule, result.Found[0].Anomaly
		case result.Bound != "":
			return verdict.Unknown, fmt.Errorf("against: the exploration of %s ended early: %s", r.Lock.Name, result.Bound)
		default:
			return verdict.Unknown, fmt.Errorf("against: %s has shown %s here in no schedule: --replay takes the one to compare",
				r.Lock.Name, r.lookedFor())
		}
	}
	locks := [2]strategy.Strategy{r.Lock, r.Against}
	c, err := session.Follow(ctx, locks, r.Scenario, schedule, shows, explore.Bounds{Schedules: schedulesAsked})
	if err != nil {
		return verdict.Unknown, err
	}
	if r.JSON {
		err = web.WriteJSON(r.Out, c)
	} else {
		r.printComparison(c, ctx.Err() != nil)
	}
	return verdict.Of(c.Differs > 0, true), err
}

func (r Request) printComparison(c session.Fate, interrupted bool) {
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
	} else {
		fmt.Fprint(out, say("Row %d is the first that differs.\n", "第 %d 行开始不同。\n", c.Differs))
	}
	for _, why := range c.Why {
		fmt.Fprint(out, say("%s.\n", "%s。\n", why))
	}
	for i, shown := range c.Shown {
		for _, s := range shown {
			fmt.Fprint(out, say("%s shows %s in row %d: %s.\n", "%s 在第 %[3]d 行出现 %[2]s：%[4]s。\n", c.Locks[i], s.Anomaly, s.Step, s.Says))
		}
	}
	fmt.Fprint(out, r.outcome(c, interrupted))
}

// outcome says what becomes of the second lock.
func (r Request) outcome(c session.Fate, interrupted bool) string {
	say, second := r.Scenario.Say, c.Locks[1]
	enough := say("%d schedules were not enough to tell", "%d 种时序还不足以判断", schedulesAsked)
	if interrupted {
		enough = say("it was interrupted", "因为被中断")
	}
	switch c.Outcome {
	case session.Shows:
		return say("%s does not survive: it shows %s, too.\n", "%s 也避免不了：同样出现 %s。\n", second, c.Anomaly)
	case session.NoEnd:
		return say("%s never comes to the end of all sales.\n", "%s 无法让所有的单都结束。\n", second)
	case session.Open:
		return say("Whether %s survives is not known: %s.\n", "%s 能否避免还不知道：%s。\n", second, enough)
	}
	says := say("%s survives: it comes to the end of all sales.", "%s 能避免：所有的单都结束了。", second)
	switch {
	case c.Outcome == session.NeverShows:
		says += say(" No schedule of it shows %s (%s).", "它的所有时序都不会出现 %s（%s）。", c.Anomaly, c.Setting)
	case c.Outcome == session.Lucky:
		says += say(" But another schedule of it shows %s: %s", "但它的另一个时序会出现 %s：%s", c.Anomaly, r.replaying(r.Against, c.Other)+r.Lang)
	case c.Anomaly != "":
		says += say(" Whether another schedule of it shows %s is not known: %s.", "它的其他时序会不会出现 %s 还不知道：%s。", c.Anomaly, enough)
	default:
		says = say("%s comes to the end of all sales.", "%s 的所有单都结束了。", second)
	}
	return says + "\n"
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
