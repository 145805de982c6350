package job

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"lockstep/internal/verdict"
)

// Count says how often a tick was run, by all replicas together.
type Count struct {
	Tick     time.Time `json:"tick"`
	Runs     int       `json:"runs"`
	Overlaps int       `json:"beside"`   // runs that began while another was going on
	LeftOut  bool      `json:"left_out"` // whether the tick was not run because an earlier run was going on
}

// Tally counts the ticks of a session by how often they were run.
type Tally struct {
	Lock     string          `json:"lock"`
	Every    string          `json:"every"`
	Replicas int             `json:"replicas"`
	Ticks    int             `json:"ticks"`
	Runs     int             `json:"runs"`
	Once     int             `json:"once"`     // ticks that were run exactly once
	More     int             `json:"more"`     // ticks that were run more than once
	None     int             `json:"none"`     // ticks that were left out or missed
	LeftOut  int             `json:"left_out"` // ticks that were not run because an earlier run was going on
	Missed   int             `json:"missed"`   // ticks that were not run although no run was going on
	Overlaps int             `json:"beside"`   // runs that began while another was going on
	Verdict  verdict.Verdict `json:"verdict"`  // broken if a tick was run more than once or missed, or runs overlapped
	Counts   []Count         `json:"tally"`    // count of each tick

	every TickLength
}

// NewTally counts the runs of each tick from first to last, but at most of the last MaxTicks ticks, and sets the verdict.
func NewTally(runs []Run, every TickLength, work time.Duration, first, last time.Time) Tally {
	if oldest := every.AddTicks(last, 1-MaxTicks); first.Before(oldest) {
		first = oldest
	}
	if len(runs) > MaxTicks && !first.After(runs[0].Tick) { // The record may have forgotten earlier runs.
		first = every.AddTicks(runs[0].Tick, 1)
	}
	runs = slices.SortedStableFunc(slices.Values(runs), func(a, b Run) int { return a.Tick.Compare(b.Tick) })
	t := Tally{Every: every.String(), every: every, Counts: []Count{}} // [] in JSON

	var busy time.Time // last tick during which a run was going on
	for tick := first; !tick.After(last); tick = every.AddTicks(tick, 1) {
		count := Count{Tick: tick}
		for ; len(runs) > 0 && !runs[0].Tick.After(tick); runs = runs[1:] {
			if end := every.Tick(runs[0].end(work)); end.After(busy) {
				busy = end
			}
			if runs[0].Tick.Equal(tick) {
				count.add(runs[0])
			}
		}
		count.LeftOut = count.Runs == 0 && !tick.After(busy)
		t.add(count)
	}
	t.Verdict = verdict.Search{Found: t.Runs > 0 && t.More+t.Missed+t.Overlaps > 0, Complete: t.Runs > 0}.Verdict()
	return t
}

// end returns the end of a run. A run without a recorded end is assumed to have lasted as long as its work.
func (r Run) end(work time.Duration) time.Time {
	if r.End.IsZero() {
		return r.Tick.Add(work)
	}
	return r.End
}

// add counts a run of the tick.
func (c *Count) add(run Run) {
	c.Runs++
	if run.Overlaps {
		c.Overlaps++
	}
}

// add adds the count of a tick.
func (t *Tally) add(count Count) {
	t.Counts = append(t.Counts, count)
	t.Ticks++
	t.Runs += count.Runs
	t.Overlaps += count.Overlaps
	switch {
	case count.Runs == 1:
		t.Once++
	case count.Runs > 1:
		t.More++
	case count.LeftOut:
		t.LeftOut++
	default:
		t.Missed++
	}
	t.None = t.LeftOut + t.Missed
}

// Print writes the tally for people, with the first of the ticks that break the claim.
func (t Tally) Print(to io.Writer) error {
	const maxListed = 10 // more would hide the verdict
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "lock\t%s\n", t.Lock)
	fmt.Fprintf(table, "ticks\t%d: %d run once, %d more often, %d left out as a run was going on, %d missed\n",
		t.Ticks, t.Once, t.More, t.LeftOut, t.Missed)
	fmt.Fprintf(table, "runs\t%d: %d of them began while another was going on\n", t.Runs, t.Overlaps)
	wrong := 0
	for _, count := range t.Counts {
		problem := count.problem()
		if problem == "" {
			continue
		}
		if wrong++; wrong <= maxListed {
			fmt.Fprintf(table, "  %s\t%s\n", t.every.clock(count.Tick), problem)
		}
	}
	if wrong > maxListed {
		fmt.Fprintf(table, "  …\tand %d more\n", wrong-maxListed)
	}
	fmt.Fprintf(table, "verdict\t%s: %s\n", t.Verdict, t.Explanation())
	return table.Flush()
}

// problem describes how a tick breaks the claim; "" if it does not.
func (c Count) problem() string {
	switch {
	case c.Runs > 1 && c.Overlaps > 0:
		return fmt.Sprintf("%d times, %d of them while another run was going on", c.Runs, c.Overlaps)
	case c.Runs > 1:
		return fmt.Sprintf("%d times", c.Runs)
	case c.Overlaps > 0:
		return "while another run was going on"
	case c.Runs == 0 && !c.LeftOut:
		return "missed"
	default:
		return ""
	}
}

// Explanation explains the verdict in words.
func (t Tally) Explanation() string {
	switch {
	case t.Ticks == 0:
		return "it ended before one tick was over that every replica could have run"
	case t.Verdict == verdict.Holds && t.LeftOut == 0:
		return "every tick was run exactly once"
	case t.Verdict == verdict.Holds:
		return fmt.Sprintf("never two runs at a time, and no tick twice; left out, as a run was going on: %d", t.LeftOut)
	case t.Verdict == verdict.Unknown && t.Missed == 0:
		return "no tick was run, as a run from before was going on all the time"
	case t.Verdict == verdict.Unknown:
		return "no tick was run at all; somebody who is gone may have left the lock behind: redis-cli del " + jobName
	}
	var wrong []string
	if t.Overlaps > 0 {
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
