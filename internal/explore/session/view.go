package session

import (
	"cmp"
	"slices"

	"lockstep/internal/explore"
	"lockstep/internal/explore/engine"
	"lockstep/internal/trace"
)

// View is everything to show about the present state of a session.
type View struct {
	explore.Recording

	Lock       string     `json:"lock"`     // name of the lock
	Scenario   string     `json:"scenario"` // flags of lockstep explore
	Schedule   string     `json:"schedule"` // tokens of the steps so far
	State      State      `json:"state"`    // contents of Redis, and state of the actors
	Choices    []Choice   `json:"choices"`  // possible next steps, faults last
	Disabled   []Disabled `json:"disabled"` // steps that cannot happen now, with reasons
	Over       bool       `json:"over"`     // no further step is possible
	ResultText string     `json:"reached"`  // result of a schedule that is over, in words; "": the schedule is not over
}

// Choice is a possible next step.
type Choice struct {
	Token   string            `json:"token"`   // name of the step in schedules
	Actor   string            `json:"actor"`   // actor that takes the step; "": time
	Fault   string            `json:"fault"`   // name of the fault; "": no fault
	Command string            `json:"command"` // Redis command that is executed; "": none
	Says    string            `json:"says"`    // description of the step
	Shows   []explore.Anomaly `json:"shows"`   // anomalies that the step would show
}

// Tokens returns the tokens of the choices.
func (v View) Tokens() []string {
	all := []string{}
	for _, c := range v.Choices {
		all = append(all, c.Token)
	}
	return all
}

// replay runs a schedule and sets the view of the state after it. It runs the schedule once more for each choice, to see its effect.
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
		view.ResultText = resultText(run, view)
	}
	rank := func(t engine.Transition) int { return min(int(t.Kind.Budget()), 1) } // 0: no fault, 1: fault
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

// newChoice describes the transition t, given a preview of its effect.
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
