package job

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"lockstep/internal/verdict"
)

// shownTicks is how many of the ticks that break the verdict are listed.
const shownTicks = 10

// Result is what a session counted.
type Result struct {
	Lock     string `json:"lock"`
	Every    string `json:"every"`
	Replicas int    `json:"replicas"`
	Tally

	every time.Duration
}

// Print prints a result for people.
func (r Result) Print(to io.Writer) error {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(table, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	row("lock", "%s", r.Lock)
	row("ticks", "%d: %d run once, %d more often, %d left out as a run was going on, %d missed", r.Ticks, r.Once, r.More, r.LeftOut, r.Missed)
	row("runs", "%d: %d of them began while another was going on", r.Runs, r.Beside)
	shown, wrong := 0, 0
	for _, count := range r.Counts {
		says := wrongWith(count)
		if says == "" {
			continue
		}
		if wrong++; shown < shownTicks {
			row("  "+clockTime(count.Tick, r.every), "%s", says)
			shown++
		}
	}
	if wrong > shown {
		row("  …", "and %d more", wrong-shown)
	}
	row("verdict", "%s: %s", r.Verdict, r.Means())
	return table.Flush()
}

// wrongWith says how a tick breaks the verdict; "" if it does not.
func wrongWith(c Count) string {
	switch {
	case c.Runs > 1 && c.Beside > 0:
		return fmt.Sprintf("%d times, %d of them while another run was going on", c.Runs, c.Beside)
	case c.Runs > 1:
		return fmt.Sprintf("%d times", c.Runs)
	case c.Beside > 0:
		return "while another run was going on"
	case c.Runs == 0 && !c.Busy:
		return "missed"
	default:
		return ""
	}
}

// Means says in words why the verdict is what it is.
func (t Tally) Means() string {
	switch {
	case t.Verdict == verdict.Holds && t.LeftOut == 0:
		return "every tick was run exactly once"
	case t.Verdict == verdict.Holds:
		return fmt.Sprintf("never two runs at a time, and no tick twice; %d ticks were left out, as a run was going on", t.LeftOut)
	case t.Ticks == 0:
		return "it ended before one tick was over that every replica could have run"
	case t.Verdict == verdict.Unknown && t.Missed == 0:
		return "no tick was run, as a run from before was going on all the time"
	case t.Verdict == verdict.Unknown:
		return "no tick was run at all; somebody who is gone may have left the lock behind: redis-cli del " + jobName
	}
	var wrong []string
	if t.Beside > 0 {
		wrong = append(wrong, "runs overlapped")
	}
	if t.More > 0 {
		wrong = append(wrong, "some ticks were run more than once")
	}
	if t.Missed > 0 {
		wrong = append(wrong, "some ticks were missed")
	}
	return strings.Join(wrong, "; ")
}
