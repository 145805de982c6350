package job

import (
	"time"

	"lockstep/internal/verdict"
)

// Count is how often a tick was run, by all replicas together.
type Count struct {
	Tick   time.Time `json:"tick"`
	Runs   int       `json:"runs"`
	Beside int       `json:"beside"`   // of the runs, how many began while another was going on
	Busy   bool      `json:"left_out"` // not run, as a run of an earlier tick was going on
}

// Tally counts what became of some ticks.
type Tally struct {
	Ticks   int             `json:"ticks"`
	Runs    int             `json:"runs"`
	Once    int             `json:"once"` // ticks that were run exactly once
	More    int             `json:"more"`
	None    int             `json:"none"`     // left out, or missed
	LeftOut int             `json:"left_out"` // a run was going on
	Missed  int             `json:"missed"`   // no run was
	Beside  int             `json:"beside"`   // runs that began while another was going on
	Verdict verdict.Verdict `json:"verdict"`  // broken: a tick was run more often, or missed, or a run began beside another
	Counts  []Count         `json:"tally"`    // one for each tick
}

// NewTally counts the runs of each tick from first to last, at most of the last MaxTicks. A run without an end is taken to have lasted as
// long as its work.
func NewTally(runs []Run, every Every, work time.Duration, first, last time.Time) Tally {
	length := time.Duration(every)
	if tooMany := last.Add(-(MaxTicks - 1) * length); first.Before(tooMany) {
		first = tooMany
	}
	counts, index := []Count{}, map[int64]int{} // [] in JSON
	for tick := first; !tick.After(last); tick = tick.Add(length) {
		index[tick.UnixNano()] = len(counts)
		counts = append(counts, Count{Tick: tick})
	}
	at := func(tick time.Time) *Count {
		if i, counted := index[tick.UnixNano()]; counted {
			return &counts[i]
		}
		return nil
	}
	for _, run := range runs {
		if count := at(run.Tick); count != nil {
			count.Runs++
			if run.Beside {
				count.Beside++
			}
		}
		end := run.End
		if end.IsZero() {
			end = run.Tick.Add(work)
		}
		for tick := run.Tick.Add(length); !tick.After(every.Tick(end)); tick = tick.Add(length) {
			if count := at(tick); count != nil {
				count.Busy = true
			}
		}
	}
	return sum(counts)
}

// sum counts all ticks, and judges them.
func sum(counts []Count) Tally {
	t := Tally{Ticks: len(counts), Counts: counts}
	for i := range counts {
		count := &counts[i]
		count.Busy = count.Busy && count.Runs == 0
		t.Runs += count.Runs
		t.Beside += count.Beside
		switch {
		case count.Runs == 1:
			t.Once++
		case count.Runs > 1:
			t.More++
		case count.Busy:
			t.LeftOut++
		default:
			t.Missed++
		}
	}
	t.None = t.LeftOut + t.Missed
	switch {
	case t.Runs == 0:
		t.Verdict = verdict.Unknown
	case t.More+t.Missed+t.Beside == 0:
		t.Verdict = verdict.Holds
	default:
		t.Verdict = verdict.Broken
	}
	return t
}
