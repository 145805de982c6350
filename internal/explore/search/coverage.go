package search

import "lockstep/internal/explore/engine"

// Sight is what there is to see of a state, beside anomalies.
type Sight struct {
	Sold      int  // sales that have succeeded
	Contended bool // a sale waits for what another one has
	Beyond    bool // a waiter could ask in vain once more, and the scenario's bound says no

	Untellable bool // nothing says whether the lock of a sale that entered is still its own
	Undecided  bool // nobody can say whether a wait with which it ended would end by time
}

// Coverage says what a search has put to the test.
type Coverage struct {
	Faults    map[string]int // how many schedules end with each fault that was allowed
	Ends      []int          // how many states are the end of all sales, by the number of sales that succeeded
	Contended int            // how many states have a sale that waits for what another one has
	Beyond    bool           // waiters would have asked in vain more often than the scenario says

	Untellable bool // in some schedule, nothing says whether a sale still has its lock
	Undecided  bool // some schedule ends with a wait of which nobody can say whether it would end by time
}

// add takes down what a step led to. A state counts once.
func (c *Coverage) add(t engine.Transition, s Sight, known, over bool) {
	if fault := t.Kind.Fault(); fault != "" {
		if c.Faults == nil {
			c.Faults = map[string]int{}
		}
		c.Faults[fault]++
	}
	c.Beyond, c.Untellable, c.Undecided = c.Beyond || s.Beyond, c.Untellable || s.Untellable, c.Undecided || s.Undecided
	if known {
		return
	}
	if s.Contended {
		c.Contended++
	}
	if !over {
		return
	}
	for len(c.Ends) <= s.Sold {
		c.Ends = append(c.Ends, 0)
	}
	c.Ends[s.Sold]++
}

// Sold reports whether any sale has succeeded in any schedule that came to its end.
func (c *Coverage) Sold() bool { return len(c.Ends) > 1 }
