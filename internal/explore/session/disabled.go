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
type outlook struct {
	*explore.Run
	possible []engine.Transition
}

// disabled lists the actors that do nothing by themselves, and, unless the schedule is over, the faults that cannot happen and time.
func disabled(run *explore.Run, possible []engine.Transition, over bool) []Disabled {
	o, all := outlook{run, possible}, []Disabled{}
	for _, a := range run.Engine.Actors() {
		if why := o.whyActor(a); why != "" && !o.canMove(a) {
			all = append(all, Disabled{a.Name, why})
		}
	}
	if over {
		return all
	}
	if why := o.whyTime(); why != "" {
		all = append(all, Disabled{"time", why})
	}
	for _, f := range explore.AllFaults() {
		happens := func(t engine.Transition) bool { return t.Kind.Budget() == f.ID }
		if allowed := run.Engine.Scenario.Faults[f.ID]; allowed > 0 && !slices.ContainsFunc(possible, happens) {
			all = append(all, Disabled{f.Name, o.whyFault(f.ID, allowed)})
		}
	}
	return all
}

// canMove reports whether an actor can do something by itself.
func (o outlook) canMove(a *engine.Actor) bool {
	return slices.ContainsFunc(o.possible, func(t engine.Transition) bool {
		move := t.Kind == engine.Moves || t.Kind == engine.PollsOn
		return move && o.Engine.Subject(t).Name == a.Name
	})
}
