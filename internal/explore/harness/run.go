package harness

import (
	"slices"
	"strings"

	"lockstep/internal/explore/anomaly"
	"lockstep/internal/explore/execution"
	"lockstep/internal/explore/recorder"
	"lockstep/internal/explore/search"
	"lockstep/internal/explore/trace"
)

// Apply lets a transition happen. It reports false when that turned out to be no transition of its own.
func (r *Run) Apply(t execution.Transition) bool {
	r.checker.Reset()
	if r.record != nil {
		return r.record.Apply(t)
	}
	return r.Execution.Apply(t)
}

// Check gives the anomalies that the last transition has shown, and whether the schedule is over.
func (r *Run) Check() (found []anomaly.Found, over bool) { return r.checker.Check() }

// Sight implements search.Run.
func (r *Run) Sight() search.Sight {
	return search.Sight{Sold: r.checker.Sold(), Contended: r.checker.Contended(), Beyond: r.Beyond()}
}

// Record has what follows recorded.
func (r *Run) Record() *recorder.Recorder {
	r.record = recorder.New(r.Execution, r.checker)
	return r.record
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

// Follow takes the transition that a token of a schedule names, and gives the anomalies that it has shown. The run is one that is recorded.
func (r *Run) Follow(token string) ([]anomaly.Found, error) {
	want, err := execution.Parse(token)
	if err != nil {
		return nil, err
	}
	var possible []string
	for _, t := range slices.Clone(r.Transitions()) {
		if r.Who(t) != want.Who || !want.Is(t.Kind) {
			possible = append(possible, r.preview(t))
			continue
		}
		took := r.Apply(t)
		if step := r.record.Last(); !took || step.Token != token {
			r.record.DropLast()
			if step.Token == token {
				return nil, Stale(r.Scenario, "%s would be as it is without that fault", "%s 没有这个故障也一样", want.Who)
			}
			return nil, Stale(r.Scenario, "what %s does next is %s, not %s", "%s 下一步是 %s，不是 %s",
				want.Who, strings.TrimPrefix(step.Token, want.Who+":"), want.Command)
		}
		found, _ := r.Check()
		return found, nil
	}
	if len(possible) == 0 {
		return nil, Stale(r.Scenario, "nothing more can happen by then", "此时已经没有下一步")
	}
	return nil, Stale(r.Scenario, "what can happen by then is %s", "此时可以发生的是 %s", strings.Join(possible, r.Scenario.Say(", ", "、")))
}

// preview writes t as far as it is known before it has happened.
func (r *Run) preview(t execution.Transition) string {
	command := "…"
	if pending := r.Pending(t); pending != nil {
		command, _ = recorder.Describe(pending)
	}
	return execution.Token(t.Kind, r.Who(t), command)
}

// System is a harness, to be searched.
type System struct {
	*Harness

	After []execution.Transition // the schedule that each run begins with, and that is part of what it leads to
	See   func(*Run) search.Run  // how a run is seen; nil: as it is
}

// Begin implements search.System.
func (s System) Begin(backwards bool) search.Run {
	run := s.Harness.Begin(backwards)
	for _, t := range s.After {
		run.Apply(t)
	}
	if s.See != nil {
		return s.See(run)
	}
	return run
}

// Trace implements search.System.
func (s System) Trace(schedule []execution.Transition, backwards bool) trace.Trace {
	return s.Harness.Trace(slices.Concat(s.After, schedule), backwards)
}
