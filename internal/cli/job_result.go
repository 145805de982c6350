package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"lockstep/internal/job"
)

// shownTicks is how many ticks that were not run exactly once are named for people.
const shownTicks = 10

// jobResult is what job has to say in the end; its JSON is what --json prints.
type jobResult struct {
	Lock     string      `json:"lock"`
	Every    string      `json:"every"`
	Replicas int         `json:"replicas"`
	Ticks    int         `json:"ticks"`
	Runs     int         `json:"runs"`
	Once     int         `json:"once"`
	More     int         `json:"more"`
	None     int         `json:"none"`
	Verdict  job.Verdict `json:"verdict"`
	Tally    job.Tally   `json:"tally"`

	every time.Duration
}

func newJobResult(f jobFlags, lock string, tally job.Tally) jobResult {
	if tally == nil {
		tally = job.Tally{} // [] in JSON
	}
	return jobResult{
		Lock: lock, Every: f.every.String(), Replicas: f.replicas,
		Ticks: len(tally), Runs: tally.Runs(), Once: tally.Once(), More: tally.More(), None: tally.None(),
		Verdict: tally.Verdict(), Tally: tally, every: f.every,
	}
}

func (r jobResult) print(to io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(to).Encode(r)
	}
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(table, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	row("lock", "%s", r.Lock)
	row("ticks", "%d: %d run once, %d more often, %d not at all", r.Ticks, r.Once, r.More, r.None)
	row("runs", "%d", r.Runs)
	shown := 0
	for _, count := range r.Tally {
		switch {
		case count.Runs == 1:
			continue
		case shown == shownTicks:
			row("  …", "and %d more", r.More+r.None-shown)
		case shown > shownTicks:
		case count.Runs == 0:
			row("  "+clockTime(count.Tick, r.every), "not at all")
		default:
			row("  "+clockTime(count.Tick, r.every), "%d times", count.Runs)
		}
		shown++
	}
	row("verdict", "%s: %s", r.Verdict, r.meaning())
	return table.Flush()
}

func (r jobResult) meaning() string {
	switch {
	case r.Verdict == job.Holds:
		return "every tick was run exactly once"
	case r.Ticks == 0:
		return "it ended before one tick was over that every replica could have run"
	case r.Verdict == job.Unknown:
		return "no tick was run at all; somebody who is gone may have left the lock behind: redis-cli del " + jobName
	case r.More == 0:
		return "some ticks were not run"
	case r.None == 0:
		return "some ticks were run more than once"
	default:
		return "some ticks were run more than once, others not at all"
	}
}
