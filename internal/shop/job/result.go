package job

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// shownTicks is how many of the ticks that break the verdict are listed.
const shownTicks = 10

// Result is what a session counted.
type Result struct {
	Lock     string  `json:"lock"`
	Every    string  `json:"every"`
	Replicas int     `json:"replicas"`
	Ticks    int     `json:"ticks"`
	Runs     int     `json:"runs"`
	Once     int     `json:"once"`
	More     int     `json:"more"`
	None     int     `json:"none"`     // left out, or missed
	LeftOut  int     `json:"left_out"` // a run was going on
	Missed   int     `json:"missed"`   // no run was
	Beside   int     `json:"beside"`   // runs that began while another was going on
	Verdict  Verdict `json:"verdict"`
	Tally    Tally   `json:"tally"`

	every time.Duration
}

func (s Session) result(tally Tally) Result {
	if tally == nil {
		tally = Tally{} // [] in JSON
	}
	return Result{
		Lock: s.Lock.Name, Every: s.Every.String(), Replicas: s.Replicas,
		Ticks: len(tally), Runs: tally.Runs(), Once: tally.Once(), More: tally.More(), None: tally.None(),
		LeftOut: tally.LeftOut(), Missed: tally.Missed(), Beside: tally.Beside(),
		Verdict: tally.Verdict(), Tally: tally, every: s.Every,
	}
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
	for _, count := range r.Tally {
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
func (r Result) Means() string {
	switch {
	case r.Verdict == Holds && r.LeftOut == 0:
		return "every tick was run exactly once"
	case r.Verdict == Holds:
		return fmt.Sprintf("never two runs at a time, and no tick twice; %d ticks were left out, as a run was going on", r.LeftOut)
	case r.Ticks == 0:
		return "it ended before one tick was over that every replica could have run"
	case r.Verdict == Unknown && r.Missed == 0:
		return "no tick was run, as a run from before was going on all the time"
	case r.Verdict == Unknown:
		return "no tick was run at all; somebody who is gone may have left the lock behind: redis-cli del " + jobName
	}
	var wrong []string
	if r.Beside > 0 {
		wrong = append(wrong, "runs overlapped")
	}
	if r.More > 0 {
		wrong = append(wrong, "some ticks were run more than once")
	}
	if r.Missed > 0 {
		wrong = append(wrong, "some ticks were missed")
	}
	return strings.Join(wrong, "; ")
}
