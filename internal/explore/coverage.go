package explore

import (
	"slices"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/fault"
	"lockstep/internal/explore/search"
)

// Coverage says what a search has put to the test.
type Coverage struct {
	Faults    map[string]int // how many schedules end with each fault that was allowed
	Ends      []int          // how many states are the end of all sales, by the number of sales that succeeded
	Contended int            // how many states have a sale that waits for what another one has

	Unjudged  []Anomaly // the anomalies that could not be judged in some schedule, because Redis does not show them: each once
	Undecided bool      // some schedule ends with a wait of which nobody can say whether it would end by time
}

// sight is what there is to see of a state, beside anomalies.
type sight struct {
	sold      int  // sales that have succeeded
	contended bool // a sale waits for what another one has

	unjudged  []Anomaly // the anomalies that cannot be judged here, because Redis does not show them
	undecided bool      // nobody can say whether a wait with which it ended would end by time
}

// Note returns what there is to see of the state that the run is in.
func (r *Run) Note() any {
	unjudged := slices.Clone(r.judge.Unjudged())
	if r.sleepy {
		unjudged = append(unjudged, anomaly.Idle)
	}
	return sight{r.sold, r.judge.IsContended(), unjudged, r.undecided}
}

// add takes down what a step led to. A state counts once.
func (c *Coverage) add(e search.Edge[engine.Transition]) {
	if f := e.Step.Kind.Fault(); f != fault.None {
		if c.Faults == nil {
			c.Faults = map[string]int{}
		}
		c.Faults[f.String()]++
	}
	s, _ := e.Note.(sight)
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
		c.Contended++
	}
	if !e.Terminal {
		return
	}
	for len(c.Ends) <= s.sold {
		c.Ends = append(c.Ends, 0)
	}
	c.Ends[s.sold]++
}

// Sold reports whether any sale has succeeded in any schedule that came to its end.
func (c *Coverage) Sold() bool { return len(c.Ends) > 1 }
