package explore

import "cmp"

// What more polls may cost. It is counted, not timed, so that it is the same everywhere.
const (
	cheap = 30_000 // an exploration is repeated while the schedules so far, each times its polls, are fewer
	dear  = 10_000 // one that is repeated is given up after so many schedules
)

// deepen repeats an exploration that holds and has cut polls off, each time with twice as many, while that is cheap. It returns the last
// one that came to its end, or showed something.
func deepen(first Result, bounds Bounds, again explorer) (Result, error) {
	last, spent := first, first.cost()
	for spent < cheap && last.Coverage.Beyond && len(last.Found) == 0 && last.Complete {
		in, within := last.Scenario, bounds
		if in.Polls = 2 * in.PollsInVain(); in.Polls > MaxPolls {
			break
		}
		within.Schedules = min(cmp.Or(bounds.Schedules, dear), dear)
		found, err := again(in, within)
		if err != nil {
			return Result{}, err
		}
		if len(found.Found) == 0 && !found.Complete {
			break
		}
		last = found
		spent += last.cost()
	}
	return last, nil
}

func (r Result) cost() int { return r.Schedules * r.Scenario.PollsInVain() }

// usuallyAwake is how many schedules are explored with as many vain polls as the scenario says. Where there are more, the exploration
// begins anew with few of them, and the result says so. It is not none: a fault may strike the command of a vain poll, too.
const (
	usuallyAwake = 40_000
	few          = 1
)

// explorer explores within bounds. It fails with errDear if vain polls cost more than these say.
type explorer func(in Scenario, bounds Bounds) (Result, error)
