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
	explore.Recording

	Lock     string     `json:"lock"`
	Scenario string     `json:"scenario"` // as flags
	Schedule string     `json:"schedule"` // so far
	State    State      `json:"state"`
	Choices  []Choice   `json:"choices"` // what can happen next: faults last
	Disabled []Disabled `json:"disabled"`
	Over     bool       `json:"over"`    // nothing more will happen
	Reached  string     `json:"reached"` // what it has come to then, in words
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
func (s *Session) replay(schedule string) error {
	run := s.harness.Begin()
	defer run.Close()
	run.Record()
	isOver, err := run.Follow(schedule)
	if err != nil {
		return err
	}
	view := View{Recording: run.Recording(), Lock: s.strategy.Name, Scenario: s.scenario.String(), Choices: []Choice{}, Over: isOver}
	view.Steps = append([]trace.Step{}, view.Steps...)
	view.Schedule = view.Trace.Schedule()
	view.State = stateOf(run, view.Trace)
	var possible, next []engine.Transition
	if !isOver {
		possible = slices.Clone(run.Engine.Transitions())
	}
	view.Disabled = listDisabled(run, possible, isOver)
	if isOver {
		view.Reached = reached(run, view)
	}
	rank := func(t engine.Transition) int { return min(int(t.Kind.Budget()), 1) } // faults last
	slices.SortStableFunc(possible, func(a, b engine.Transition) int { return rank(a) - rank(b) })
	for _, t := range possible {
		preview, hasEffect, err := run.Preview(t)
		if err != nil {
			return err
		}
		if hasEffect {
			view.Choices, next = append(view.Choices, s.newChoice(run, t, preview)), append(next, t)
		}
	}
	s.now, s.path, s.nextTransitions = view, slices.Clone(run.Engine.Schedule()), next
	return run.Engine.Err()
}

// choice is what t would do.
func (s *Session) newChoice(run *explore.Run, t engine.Transition, preview explore.Recording) Choice {
	step := preview.Steps[0]
	c := Choice{
		Token: step.Token, Actor: step.Actor, Fault: t.Kind.Budget().String(), Command: step.Command, Shows: []explore.Anomaly{},
		Says: cmp.Or(step.Says, step.Command, continuesText(run.Engine.Subject(t).Name, s.scenario)),
	}
	for _, shown := range preview.Hits {
		c.Shows = append(c.Shows, shown.Anomaly)
	}
	return c
}
