package checker

import (
	"slices"

	"lockstep/internal/explore/execution"
	"lockstep/internal/explore/scenario"
)

// rounds is how often each waiter asks in vain before it is given up.
const rounds = 100

// hopeless reports whether waiters that ask in vain, and are all that is left, would go on asking: none gives up, or does something else,
// after it has asked so often; and if they let time pass, until every clock says that a lock has expired twice.
func (c *Checker) hopeless() bool {
	copied, end := c.futures.Again()
	defer end()
	x := copied.x
	start, version := x.Now(), x.Cluster.Version()
	until := start + 2*scenario.TTL + x.Ahead()
	for n := 0; n < rounds || start < x.Now() && x.Now() < until; n++ {
		for _, t := range slices.Clone(x.Transitions()) {
			if t.Kind != execution.PollsOn && t.Kind != execution.TimePasses {
				continue // a fault, or what others do beside them
			}
			x.Apply(t)
			if !quiets(x) || x.Cluster.Version() != version {
				return false
			}
		}
	}
	if err := x.Err(); err != nil {
		c.x.Fail(err)
		return false
	}
	return true
}

// quiets lets waiters end what they have begun, and reports whether they are asking in vain again.
func quiets(x *execution.Execution) bool {
	for range patience {
		transitions := x.Transitions()
		if x.Quiet() {
			return true
		}
		i := slices.IndexFunc(transitions, execution.Transition.Progress)
		if i < 0 {
			return false
		}
		x.Apply(transitions[i])
	}
	return false
}
