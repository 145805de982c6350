package explore

import (
	"slices"
	"time"

	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/simredis"
)

// lookahead finds out how a run would continue, by continuing copies of it. The run itself can continue only after its copies have ended.
type lookahead struct{ *Run }

// Actor indices of the two newcomers in a probe run: one tries once, the other waits.
const tryingNewcomer, waitingNewcomer = 0, 1

// copyRun begins a run that is in the same state as this one.
func (l lookahead) copyRun() (copied lookahead, end func()) {
	next := l.harness.Begin()
	for _, t := range l.Engine.Schedule() {
		next.Apply(t)
	}
	return lookahead{next}, l.endFunc(next)
}

// beginProbe begins a run of two newcomers in one process, under names that no actor of this run has. It starts at the virtual time
// now+later, with the contents that the servers had at now, aged by later.
func (l lookahead) beginProbe(contents []*simredis.State, now, later time.Duration) (probe lookahead, end func(), err error) {
	cluster, err := l.Engine.Cluster.AgedCopy(contents, later)
	if err != nil {
		return lookahead{}, nil, err
	}
	next := l.harness.begin(engine.Setup{
		Scenario: engine.Scenario{Actors: 2, Replicas: 1, Try: 1}, Cluster: cluster, FirstActorName: 'a', Now: now + later,
		DisabledReductions: l.harness.options.DisabledReductions,
	})
	return lookahead{next}, l.endFunc(next), nil
}

// endFunc returns a function that ends another run and connects the Redis clients to this one again.
func (l lookahead) endFunc(other *Run) (end func()) {
	return func() {
		other.Close()
		l.harness.attach(l.Engine)
	}
}

// check judges the current state by its possible continuations, and reports whether no step can follow.
func (l lookahead) check() (over bool) {
	transitions := l.Engine.Transitions()
	l.checkIdle(transitions)
	l.sleepsBesideFreeLock = onlyTimeRemains(transitions) && l.isAsleepBesideFreeLock()
	quiet := l.Engine.Enabled.OnlyFutilePolls
	if !slices.ContainsFunc(transitions, engine.Transition.IsProgress) || l.Engine.Enabled.LastResort {
		l.checkSelfDeadlock()
	}
	over = len(transitions) == 0 || quiet && l.isDeadlocked()
	if over && !l.undecided {
		l.checkEnd()
	}
	return over
}
