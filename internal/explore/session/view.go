package session

import (
	"cmp"
	"slices"

	"lockstep/internal/explore"
	"lockstep/internal/explore/engine"
	"lockstep/internal/trace"
)

// View is all there is to show of a session.
type View struct {
	Lock     string          `json:"lock"`
	Scenario string          `json:"scenario"` // as flags
	Schedule string          `json:"schedule"` // so far
	Trace    trace.Trace     `json:"trace"`    // of it
	Shown    []explore.Shown `json:"shown"`    // anomalies, each once, in the order in which they appeared
	State    State           `json:"state"`
	Choices  []Choice        `json:"choices"` // what can happen next: faults last
	Disabled []Disabled      `json:"disabled"`
	Over     bool            `json:"over"` // nothing more will happen
}

// Choice is one thing that can happen next.
type Choice struct {
	Token   string            `json:"token"`   // as schedules write it
	Actor   string            `json:"actor"`   // who does it; "" for time
	Fault   string            `json:"fault"`   // the name of the fault that it is, "" if it is none
	Command string            `json:"command"` // that takes effect, "" if none does
	Says    string            `json:"says"`    // what it does, in words
	Shows   []explore.Anomaly `json:"shows"`   // the anomalies that it shows
}

// Tokens returns those of the choices.
func (v View) Tokens() []string {
	all := []string{}
	for _, c := range v.Choices {
		all = append(all, c.Token)
	}
	return all
}

// look runs a schedule, to see what is so after it; and once more for each thing that can happen next, to see what that would do.
func (s *Session) look(schedule string) error {
	v, path, possible, err := s.replay(schedule)
	if err != nil {
		return err
	}
	rank := func(t engine.Transition) int { return min(len(t.Kind.Budget()), 1) } // faults last
	slices.SortStableFunc(possible, func(a, b engine.Transition) int { return rank(a) - rank(b) })
	var next []engine.Transition
	for _, t := range possible {
		choice, took, err := s.try(path, t)
		if err != nil {
			return err
		}
		if took {
			v.Choices, next = append(v.Choices, choice), append(next, t)
		}
	}
	s.now, s.path, s.next = v, path, next
	return nil
}

// replay runs a schedule, and sees what is so after it, which transitions it took, and what is possible then.
func (s *Session) replay(schedule string) (v View, path, possible []engine.Transition, err error) {
	run := s.harness.Begin()
	defer run.Close()
	record := run.Record()
	shown, over, err := run.Follow(schedule, s.strategy)
	if err != nil {
		return v, nil, nil, err
	}
	v = View{
		Lock: s.strategy.Name, Scenario: s.scenario.String(), Trace: record.Trace(), Shown: append([]explore.Shown{}, shown...),
		Choices: []Choice{}, Over: over,
	}
	v.Trace.Steps = append([]trace.Step{}, v.Trace.Steps...)
	v.Schedule = v.Trace.Schedule()
	v.State = stateOf(run, v.Trace)
	if !v.Over {
		possible = slices.Clone(run.Engine.Transitions())
	}
	v.Disabled = disabled(run, possible, v.Over)
	return v, slices.Clone(run.Engine.Taken()), possible, run.Engine.Err()
}

// try runs a schedule with one step more, to see what that does. It reports false if that is no step of its own.
func (s *Session) try(path []engine.Transition, t engine.Transition) (c Choice, took bool, err error) {
	run := s.harness.Begin()
	defer run.Close()
	for _, before := range path {
		run.Apply(before)
	}
	run.Engine.Transitions()
	record := run.Record()
	took = run.Apply(t)
	found, _ := run.Check()
	if err := run.Engine.Err(); err != nil || !took {
		return c, false, err
	}
	step := record.Last()
	c = Choice{
		Token: step.Token, Actor: step.Actor, Fault: t.Kind.Budget(), Command: step.Command, Shows: []explore.Anomaly{},
		Says: cmp.Or(step.Says, step.Command, goesOn(run.Engine.Subject(t).Name, s.scenario)),
	}
	for _, f := range found {
		if f.Anomaly.IsPromisedBy(s.strategy) {
			c.Shows = append(c.Shows, f.Anomaly)
		}
	}
	return c, true, nil
}
