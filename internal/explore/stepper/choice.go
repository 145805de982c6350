package stepper

import (
	"cmp"

	"lockstep/internal/explore"
	"lockstep/internal/explore/anomaly"
	"lockstep/internal/explore/execution"
	"lockstep/internal/explore/harness"
	"lockstep/internal/explore/trace"
)

// Choice is one thing that can happen next.
type Choice struct {
	Token   string            `json:"token"`   // as schedules write it
	Actor   string            `json:"actor"`   // who does it; "" for time
	Fault   string            `json:"fault"`   // the name of the fault that it is, "" if it is none
	Command string            `json:"command"` // that takes effect, "" if none does
	Says    string            `json:"says"`    // what it does, in words
	Shows   []explore.Anomaly `json:"shows"`   // the anomalies that it shows
}

// choice says what a step has done, after it was tried.
func (s *Session) choice(run *harness.Run, t execution.Transition, step trace.Step, found []anomaly.Found) Choice {
	c := Choice{
		Token: step.Token, Actor: step.Actor, Fault: t.Kind.Uses(), Command: step.Command, Shows: []explore.Anomaly{},
		Says: cmp.Or(step.Says, step.Command, s.scenario.Say("%s goes on", "%s 继续", run.Who(t))),
	}
	for _, f := range found {
		if f.Anomaly.Applies(s.strategy) {
			c.Shows = append(c.Shows, f.Anomaly)
		}
	}
	return c
}
