package job

import "time"

// Count is how often a tick was run, by all replicas together.
type Count struct {
	Tick time.Time `json:"tick"`
	Runs int       `json:"runs"`
}

// Tally is how often each of some ticks was run.
type Tally []Count

// Verdict says whether a job was run once a tick.
type Verdict string

// The verdicts.
const (
	Holds   Verdict = "holds"   // every tick was run exactly once
	Broken  Verdict = "broken"  // some tick was run more often, or not at all
	Unknown Verdict = "unknown" // nothing was run
)

// ExitCode is what a command ends with that has this to say: 0, 1 or 2.
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

// Runs is how many runs there were.
func (t Tally) Runs() (sum int) {
	for _, count := range t {
		sum += count.Runs
	}
	return sum
}

// Once is how many ticks were run exactly once.
func (t Tally) Once() int { return t.with(func(runs int) bool { return runs == 1 }) }

// More is how many ticks were run more than once.
func (t Tally) More() int { return t.with(func(runs int) bool { return runs > 1 }) }

// None is how many ticks were not run at all.
func (t Tally) None() int { return t.with(func(runs int) bool { return runs == 0 }) }

func (t Tally) with(holds func(runs int) bool) (n int) {
	for _, count := range t {
		if holds(count.Runs) {
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
	case t.Once() == len(t):
		return Holds
	default:
		return Broken
	}
}
