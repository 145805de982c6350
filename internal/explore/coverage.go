package explore

import "lockstep/internal/explore/engine"

// Coverage says what a search has put to the test.
type Coverage struct {
	Faults    map[string]int // how many schedules end with each fault that was allowed
	Ends      []int          // how many states are the end of all sales, by the number of sales that succeeded
	Contended int            // how many states have a sale that waits for what another one has
	Beyond    bool           // waiters would have asked in vain more often than the scenario says

	Untellable bool // in some schedule, nothing says whether a sale still has its lock
	Undecided  bool // some schedule ends with a wait of which nobody can say whether it would end by time
}

// sight is what there is to see of a state, beside anomalies.
type sight struct {
	sold      int  // sales that have succeeded
	contended bool // a sale waits for what another one has
	beyond    bool // a waiter could ask in vain once more, and the scenario's bound says no

	untellable bool // nothing says whether the lock of a sale that entered is still its own
	undecided  bool // nobody can say whether a wait with which it ended would end by time
}

// Note implements search.Noted.
func (r *Run) Note() any {
	return sight{r.sold, r.checker.IsContended(), r.Beyond(), r.checker.Untellable(), r.undecided}
}

// add takes down what a step led to. A state counts once.
func (c *Coverage) add(t engine.Transition, note any, isNew, over bool) {
	if fault := t.Kind.Fault(); fault != "" {
		if c.Faults == nil {
			c.Faults = map[string]int{}
		}
		c.Faults[fault]++
	}
	s, _ := note.(sight)
	c.Beyond, c.Untellable, c.Undecided = c.Beyond || s.beyond, c.Untellable || s.untellable, c.Undecided || s.undecided
	if !isNew {
		return
	}
	if s.contended {
		c.Contended++
	}
	if !over {
		return
	}
	for len(c.Ends) <= s.sold {
		c.Ends = append(c.Ends, 0)
	}
	c.Ends[s.sold]++
}

// Sold reports whether any sale has succeeded in any schedule that came to its end.
func (c *Coverage) Sold() bool { return len(c.Ends) > 1 }
