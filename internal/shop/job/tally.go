package job

import "time"

// Count is how often a tick was run, by all replicas together.
type Count struct {
	Tick   time.Time `json:"tick"`
	Runs   int       `json:"runs"`
	Beside int       `json:"beside"`   // of the runs, how many began while another was going on
	Busy   bool      `json:"left_out"` // not run, as a run of an earlier tick was going on
}

// Tally has a count for each of some ticks.
type Tally []Count

// NewTally counts the runs of each tick from first to last, at most of the last MaxTicks. A run without an end is taken to have lasted as
// long as its work.
func NewTally(runs []Run, every Every, work time.Duration, first, last time.Time) Tally {
	length := time.Duration(every)
	if tooMany := last.Add(-(MaxTicks - 1) * length); first.Before(tooMany) {
		first = tooMany
	}
	var tally Tally
	index := map[int64]int{}
	for tick := first; !tick.After(last); tick = tick.Add(length) {
		index[tick.UnixNano()] = len(tally)
		tally = append(tally, Count{Tick: tick})
	}
	at := func(tick time.Time) *Count {
		if i, counted := index[tick.UnixNano()]; counted {
			return &tally[i]
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
	for i := range tally {
		tally[i].Busy = tally[i].Busy && tally[i].Runs == 0
	}
	return tally
}

// Verdict says whether a job was run correctly.
type Verdict string

// The verdicts.
const (
	Holds   Verdict = "holds"   // every tick was run exactly once, or left out while a run was going on; never two runs at a time
	Broken  Verdict = "broken"  // some tick was run more often, or missed; or a run began beside another
	Unknown Verdict = "unknown" // nothing was run
)

// ExitCode returns the exit code of a command with this verdict: 0, 1 or 2.
func (v Verdict) ExitCode() int {
	switch v {
	case Holds:
		return 0
	case Broken:
		return 1
	default:
		return 2
	}
}

// Runs counts the runs.
func (t Tally) Runs() (sum int) {
	for _, count := range t {
		sum += count.Runs
	}
	return sum
}

// Beside counts the runs that began while another was going on.
func (t Tally) Beside() (sum int) {
	for _, count := range t {
		sum += count.Beside
	}
	return sum
}

// Once counts the ticks that were run exactly once.
func (t Tally) Once() int { return t.with(func(c Count) bool { return c.Runs == 1 }) }

// More counts the ticks that were run more than once.
func (t Tally) More() int { return t.with(func(c Count) bool { return c.Runs > 1 }) }

// None counts the ticks that were not run at all: left out, or missed.
func (t Tally) None() int { return t.with(func(c Count) bool { return c.Runs == 0 }) }

// LeftOut counts the ticks that were not run because a run was going on.
func (t Tally) LeftOut() int { return t.with(func(c Count) bool { return c.Busy }) }

// Missed counts the ticks that were not run, though no run was going on.
func (t Tally) Missed() int { return t.None() - t.LeftOut() }

func (t Tally) with(holds func(Count) bool) (n int) {
	for _, count := range t {
		if holds(count) {
			n++
		}
	}
	return n
}

// Verdict judges the ticks.
func (t Tally) Verdict() Verdict {
	switch {
	case t.Runs() == 0:
		return Unknown
	case t.More()+t.Missed()+t.Beside() == 0:
		return Holds
	default:
		return Broken
	}
}
