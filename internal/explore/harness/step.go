package harness

import (
	"lockstep/internal/explore/anomaly"
	"lockstep/internal/explore/execution"
	"lockstep/internal/explore/recorder"
)

// Step lets a transition happen and records it. It gives the anomalies that it has shown, whether nothing can follow, and whether it was a
// transition of its own.
func (r *Run) Step(t execution.Transition, record *recorder.Recorder) (found []anomaly.Found, over, took bool) {
	r.checker.Reset()
	took = record.Apply(t)
	found, over = r.checker.Check()
	return found, over, took
}

// Holder returns the actor whose lock it is in truth, nil for nobody.
func (r *Run) Holder() *execution.Actor {
	if i := r.checker.Holder(); i >= 0 {
		return r.Actors()[i]
	}
	return nil
}

// Believes reports whether an actor believes, and may believe, that it holds the lock.
func (r *Run) Believes(a *execution.Actor) bool { return r.checker.Inside(a) }
