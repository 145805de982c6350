package stepper

import (
	"cmp"
	"slices"

	"lockstep/internal/explore"
	"lockstep/internal/explore/execution"
	"lockstep/internal/explore/trace"
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

// look runs the schedule once more, to see what is so now; and once more for each thing that can happen next, to see what that would do.
func (s *Session) look() error {
	v, possible, err := s.replay()
	if err != nil {
		return err
	}
	rank := func(t execution.Transition) int { return min(len(t.Kind.Uses()), 1) } // faults last
	slices.SortStableFunc(possible, func(a, b execution.Transition) int { return rank(a) - rank(b) })
	var next []execution.Transition
	for _, t := range possible {
		choice, took, err := s.try(t)
		if err != nil {
			return err
		}
		if took {
			v.Choices, next = append(v.Choices, choice), append(next, t)
		}
	}
	s.now, s.next = v, next
	return nil
}

// replay runs the schedule, and sees what is so after it and what is possible then.
func (s *Session) replay() (v View, possible []execution.Transition, err error) {
	run := s.harness.Begin(false)
	defer run.Close()
	record := run.Record()
	v = View{Lock: s.strategy.Name, Scenario: s.scenario.String(), Shown: []explore.Shown{}, Choices: []Choice{}}
	for i, t := range s.path {
		if !slices.Contains(run.Transitions(), t) {
			return v, nil, explore.ErrUnrepeatable
		}
		run.Apply(t)
		found, over := run.Check()
		if v.Over = over; run.Err() != nil {
			return v, nil, run.Err()
		}
		for _, f := range found {
			known := slices.ContainsFunc(v.Shown, func(other explore.Shown) bool { return other.Anomaly == f.Anomaly })
			if f.Anomaly.Applies(s.strategy) && !known {
				v.Shown = append(v.Shown, explore.Shown{Anomaly: f.Anomaly, Says: f.Says, Step: i + 1})
			}
		}
	}
	v.Trace = record.Trace()
	v.Trace.Steps = append([]trace.Step{}, v.Trace.Steps...)
	v.Schedule = v.Trace.Schedule()
	v.State = stateOf(run, v.Trace)
	if !v.Over {
		possible = slices.Clone(run.Transitions())
	}
	v.Disabled = disabled(run, possible, v.Over)
	return v, possible, run.Err()
}

// try runs the schedule with one step more, to see what that does. It reports false if that is no step of its own.
func (s *Session) try(t execution.Transition) (c Choice, took bool, err error) {
	run := s.harness.Begin(false)
	defer run.Close()
	for _, before := range s.path {
		run.Apply(before)
	}
	run.Transitions()
	record := run.Record()
	took = run.Apply(t)
	found, _ := run.Check()
	if err := run.Err(); err != nil || !took {
		return c, false, err
	}
	step := record.Last()
	c = Choice{
		Token: step.Token, Actor: step.Actor, Fault: t.Kind.Uses(), Command: step.Command, Shows: []explore.Anomaly{},
		Says: cmp.Or(step.Says, step.Command, s.scenario.Say("%s goes on", "%s 继续", run.Who(t))),
	}
	for _, f := range found {
		if f.Anomaly.Applies(s.strategy) {
			c.Shows = append(c.Shows, f.Anomaly)
		}
	}
	return c, true, nil
}
