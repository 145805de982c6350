package explore

import (
	"slices"
	"time"

	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/simredis"
)

// futures tell how a run would go on, by others that go on instead. The run cannot go on itself before these have ended.
type futures struct{ *Run }

// Those two who come, by their indices.
const trying, waiting = 0, 1

// again begins a run that is where this one is.
func (f futures) again() (copied futures, end func()) {
	next := f.harness.Begin()
	for _, t := range f.Engine.Schedule() {
		next.Apply(t)
	}
	return futures{next}, f.afterwards(next)
}

// newcomers begins a run of two, in one process, with names that nobody has had, on what the servers would hold so long after they held
// this. The first tries once.
func (f futures) newcomers(held []*simredis.State, at, after time.Duration) (newcomers futures, end func(), err error) {
	cluster, err := f.Engine.Cluster.AgedCopy(held, after)
	if err != nil {
		return futures{}, nil, err
	}
	h := f.harness
	next := h.begin(engine.Setup{
		Scenario: engine.Scenario{Actors: 2, Replicas: 1, Try: 1}, Cluster: cluster, FirstActorName: 'a', Now: at + after,
		Cuts: h.options.Cuts,
	})
	return futures{next}, f.afterwards(next), nil
}

// afterwards returns what ends another run, so that this one can go on.
func (f futures) afterwards(other *Run) (end func()) {
	return func() {
		other.Close()
		f.harness.attach(f.Engine)
	}
}

// check looks at what follows from the present state, and reports whether nothing can.
func (f futures) check() (over bool) {
	transitions := f.Engine.Transitions()
	f.checkIdle(transitions)
	f.sleepy = onlyTime(transitions) && f.isAsleepBesideFreeLock()
	quiet := f.Engine.Options.OnlyFutilePolls
	if !slices.ContainsFunc(transitions, engine.Transition.IsProgress) || f.Engine.Options.LastResort {
		f.checkSelfLocked()
	}
	over = len(transitions) == 0 || quiet && f.isDeadlocked()
	if over && !f.undecided {
		f.checkEnd()
	}
	return over
}
