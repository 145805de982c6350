package explore

import (
	"slices"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/fault"
	"lockstep/internal/explore/search"
)

// Coverage counts the faults and states that a search has explored.
type Coverage struct {
	Faults          map[string]int // number of schedules run whose last step is a fault, by the fault's name
	EndStates       []int          // states in which all sales have ended, by the number of sales that succeeded
	ContendedStates int            // states in which a sale waits while another one is in the critical section

	Unjudged  []Anomaly // anomalies that could not be judged in some schedule because Redis does not show them, without duplicates
	Undecided bool      // some schedule ends with a wait, and it is unknown whether time would end it
}

// stateSummary describes a state, apart from its anomalies.
type stateSummary struct {
	soldCount int  // sales that have succeeded
	contended bool // a sale waits while another one is in the critical section

	unjudged  []Anomaly // anomalies that cannot be judged here because Redis does not show them
	undecided bool      // the schedule ends with a wait, and it is unknown whether time would end it
}

// Summary returns a description of the run's current state, a stateSummary for search.Observation.Note.
func (r *Run) Summary() any {
	unjudged := slices.Clone(r.judge.Unjudged())
	if r.sleepsBesideFreeLock {
		unjudged = append(unjudged, anomaly.Idle)
	}
	return stateSummary{r.soldCount, r.judge.IsContended(), unjudged, r.undecided}
}

// add counts the results of a step. It counts a state only when the state is new.
func (c *Coverage) add(e search.Edge[engine.Transition]) {
	if f := e.Step.Kind.Fault(); f != fault.None {
		if c.Faults == nil {
			c.Faults = map[string]int{}
		}
		c.Faults[f.String()]++
	}
	s, _ := e.Note.(stateSummary)
	c.Undecided = c.Undecided || s.undecided
	for _, a := range s.unjudged {
		if !slices.Contains(c.Unjudged, a) {
			c.Unjudged = append(c.Unjudged, a)
		}
	}
	if !e.New {
		return
	}
	if s.contended {
		c.ContendedStates++
	}
	if !e.Terminal {
		return
	}
	for len(c.EndStates) <= s.soldCount {
		c.EndStates = append(c.EndStates, 0)
	}
	c.EndStates[s.soldCount]++
}

// HasSold reports whether at least one sale has succeeded in some schedule that ran to its end.
func (c *Coverage) HasSold() bool { return len(c.EndStates) > 1 }
