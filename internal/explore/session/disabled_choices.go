package session

import (
	"slices"

	"lockstep/internal/explore"
	"lockstep/internal/explore/engine"
)

// Disabled is a step that a reader may expect next but that cannot happen.
type Disabled struct {
	What string `json:"what"` // name of an actor or of an allowed fault, or "time"
	Why  string `json:"why"`  // reason, a sentence without a full stop
}

// runChoices is a run and its possible transitions.
type runChoices struct {
	*explore.Run
	possible []engine.Transition // possible transitions of the run
}

// listDisabled returns the actors that cannot move. Unless the schedule is over, it also returns the allowed faults that cannot happen, and
// time if it cannot pass.
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

// canMove reports whether an actor can take a step by itself.
func (c runChoices) canMove(a *engine.Actor) bool {
	return slices.ContainsFunc(c.possible, func(t engine.Transition) bool {
		isMove := t.Kind == engine.Moves || t.Kind == engine.PollsOn
		return isMove && c.Engine.Subject(t).Name == a.Name
	})
}
