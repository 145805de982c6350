package session

import (
	"slices"

	"lockstep/internal/explore"
	"lockstep/internal/explore/engine"
)

// Disabled is something that a reader may expect to happen next, and that cannot.
type Disabled struct {
	What string `json:"what"` // an actor, a fault that the scenario allows, or time
	Why  string `json:"why"`
}

// outlook is a run, and what is possible in it.
type runChoices struct {
	*explore.Run
	possible []engine.Transition
}

// disabled lists the actors that do nothing by themselves, and, unless the schedule is over, the faults that cannot happen and time.
func listDisabled(run *explore.Run, possible []engine.Transition, over bool) []Disabled {
	c, all := runChoices{run, possible}, []Disabled{}
	for _, a := range run.Engine.Actors() {
		if reason := c.reasonActorWaits(a); reason != "" && !c.canMove(a) {
			all = append(all, Disabled{a.Name, reason})
		}
	}
	if over {
		return all
	}
	if reason := c.reasonTimeStops(); reason != "" {
		all = append(all, Disabled{"time", reason})
	}
	for _, f := range explore.AllFaults() {
		happens := func(t engine.Transition) bool { return t.Kind.Budget() == f.ID }
		if allowed := run.Engine.Scenario.Faults[f.ID]; allowed > 0 && !slices.ContainsFunc(possible, happens) {
			all = append(all, Disabled{f.Name, c.reasonNoFault(f.ID, allowed)})
		}
	}
	return all
}

// canMove reports whether an actor can do something by itself.
func (c runChoices) canMove(a *engine.Actor) bool {
	return slices.ContainsFunc(c.possible, func(t engine.Transition) bool {
		isMove := t.Kind == engine.Moves || t.Kind == engine.PollsOn
		return isMove && c.Engine.Subject(t).Name == a.Name
	})
}
