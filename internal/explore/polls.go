package explore

import (
	"cmp"
	"errors"
	"math"

	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/search"
)

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
		found, err := again(in, within, false)
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

// usuallyAwake is how many schedules are explored with a step for each round in vain. Where there are more, rounds in vain are no steps, as
// long as they make no difference: to know that takes runs of its own.
const usuallyAwake = 40_000

// explorer explores within bounds, with a step for each round in vain, as long as that is not dear, or else without.
type explorer func(in Scenario, bounds Bounds, stutter bool) (search.Result, error)

// exploreCheapest explores as it costs least, and says whether rounds in vain were steps.
func exploreCheapest(in Scenario, bounds Bounds, explored explorer) (found search.Result, awake bool, err error) {
	if bounds.Awake = cmp.Or(bounds.Awake, usuallyAwake); bounds.Awake > 0 {
		found, err = explored(in, bounds, false)
		if !errors.Is(err, search.ErrDear) {
			return found, true, err
		}
	}
	for _, stutter := range [...]bool{true, false} {
		within := bounds
		within.Awake = math.MaxInt
		if found, err = explored(in, within, stutter); !errors.Is(err, engine.ErrCounts) {
			break
		}
	}
	return found, false, err
}
