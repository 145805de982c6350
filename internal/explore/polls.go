package explore

import (
	"cmp"
	"time"

	"lockstep/internal/explore/search"
)

// What more polls may cost. It is counted, not timed, so that it is the same everywhere.
const (
	cheap = 30_000 // an exploration is repeated while the schedules so far, each times its polls, are fewer
	dear  = 10_000 // one that is repeated is given up after so many schedules
)

// deepen repeats an exploration that holds and has cut polls off, each time with twice as many, while that is cheap. It returns the last
// one that came to its end, or showed something.
func deepen(first Result, began time.Time, bounds Bounds, again func(Scenario, Bounds) (search.Result, error)) (Result, error) {
	last, spent := first, first.cost()
	for spent < cheap && last.Coverage.Beyond && len(last.Found) == 0 && last.Complete {
		in, within := last.Scenario, bounds
		if in.Polls = 2 * in.PollsInVain(); in.Polls > MaxPolls {
			break
		}
		within.Schedules = min(cmp.Or(bounds.Schedules, dear), dear)
		if bounds.Time > 0 {
			if within.Time = bounds.Time - time.Since(began); within.Time <= 0 {
				break
			}
		}
		found, err := again(in, within)
		if err != nil {
			return Result{}, err
		}
		if len(found.Found) == 0 && !found.Complete {
			break
		}
		last = Result{last.Lock, in, found, last.lookedFor}
		spent += last.cost()
	}
	return last, nil
}

func (r Result) cost() int { return r.Schedules * r.Scenario.PollsInVain() }
