package stepper

import (
	"fmt"
	"slices"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/explore/execution"
	"lockstep/internal/explore/harness"
)

// Disabled is something that a reader may expect to happen next, and that cannot.
type Disabled struct {
	What string `json:"what"` // an actor, a fault that the scenario allows, or time
	Why  string `json:"why"`
}

// outlook is a run, and what is possible in it.
type outlook struct {
	*harness.Run
	possible []execution.Transition
}

// disabled lists the actors that do nothing by themselves, and, unless the schedule is over, the faults that cannot happen and time.
func disabled(run *harness.Run, possible []execution.Transition, over bool) []Disabled {
	o, all := outlook{run, possible}, []Disabled{}
	for _, a := range run.Actors() {
		if why := o.whyActor(a); why != "" && !o.moves(a) {
			all = append(all, Disabled{a.Name, why})
		}
	}
	if over {
		return all
	}
	if why := o.whyTime(); why != "" {
		all = append(all, Disabled{"time", why})
	}
	allowed := run.Scenario.Faults.Map()
	for _, name := range explore.FaultNames() {
		happens := func(t execution.Transition) bool { return t.Kind.Uses() == name }
		if allowed[name] > 0 && !slices.ContainsFunc(possible, happens) {
			all = append(all, Disabled{name, o.whyFault(name, allowed[name])})
		}
	}
	return all
}

// moves reports whether an actor can do something by itself.
func (o outlook) moves(a *execution.Actor) bool {
	return slices.ContainsFunc(o.possible, func(t execution.Transition) bool {
		move := t.Kind == execution.Moves || t.Kind == execution.Polls || t.Kind == execution.PollsOn
		return move && o.Who(t) == a.Name
	})
}

// whyActor says why an actor does nothing by itself, "" if there is no reason.
func (o outlook) whyActor(a *execution.Actor) string {
	why, due := o.Standstill(a)
	switch why {
	case execution.Over:
		return a.Name + "'s sale has ended"
	case execution.Died:
		return a.Name + " is dead"
	case execution.Stopped:
		return a.Name + " is paused until " + a.Process.Name + ":resumes"
	case execution.AsksInVain:
		says := a.Name + " waits" + o.held(a) + ": it would be told what it was told before"
		if len(o.possible) > 0 && o.PollsLeft() == 0 {
			says += ", and has been as often as --polls allows"
		}
		return says
	case execution.WaitsForReply:
		return a.Name + " waits for a node that does not answer"
	case execution.WaitsForTime:
		says := fmt.Sprintf("%s waits until %v", a.Name, due.Round(time.Millisecond))
		if o.Listens(a) {
			says += ", or for a message"
		}
		return says + o.held(a)
	case execution.WaitsForOther:
		says := a.Name + " waits for another goroutine of its process"
		if o.Listens(a) {
			says += ", or for a message"
		}
		return says + o.held(a)
	default:
		return ""
	}
}

// held says whose the lock is that an actor may wait for.
func (o outlook) held(a *execution.Actor) string {
	if holder := o.Holder(); holder != nil && holder != a {
		return ", while the lock is " + holder.Name + "'s"
	}
	return ""
}

// whyTime says why time does not pass by itself, "" if it does, or if nothing is due.
func (o outlook) whyTime() string {
	passes := slices.ContainsFunc(o.possible, func(t execution.Transition) bool { return t.Kind == execution.TimePasses })
	if _, set := o.NextTimer(); passes || !set && o.Cluster.NextExpiry() == 0 {
		return ""
	}
	return "time does not pass by itself while somebody can move"
}

// whyFault says why a fault that the scenario allows cannot happen now.
func (o outlook) whyFault(name string, allowed int) string {
	if o.Left().Map()[name] == 0 {
		return fmt.Sprintf("the budget %s=%d is used up", name, allowed)
	}
	expiry := o.Cluster.NextExpiry()
	timer, set := o.NextTimer()
	switch name {
	case "expiry", "redis-clock":
		if expiry == 0 {
			return "no key in Redis is to expire"
		}
	case "slow":
		if !set {
			return "no timer is set"
		}
		if expiry > 0 && timer >= o.Now()+expiry {
			return "a key expires before the next timer fires"
		}
	default:
		return needs(name)
	}
	return "nobody could move before it: time passes by itself"
}

// needs says what a fault needs that is not there.
func needs(name string) string {
	switch name {
	case "lost-wake":
		return "no message is under way"
	case "spurious-wake":
		return "no process waits for a message"
	case "timeout":
		return "nobody waits for the lock"
	case "failover":
		return "Redis would lose nothing"
	case "pause", "crash", "cancel", "clock-jump":
		return "no sale is going on"
	case "node-crash", "node-hang", "node-restart":
		return "nobody is about to ask a node that is well"
	default:
		return "nobody is about to send a command"
	}
}
