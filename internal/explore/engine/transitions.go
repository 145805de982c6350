package engine

import (
	"slices"

	"lockstep/internal/explore/fault"
	"lockstep/internal/explore/simredis"
)

// add appends the transitions of these kinds on the task, process or actor with this id, except for faults whose budget is used up.
func (list *transitionList) add(id int, kinds ...Kind) {
	for _, k := range kinds {
		if used := list.x.kindTable[k].budget; used == fault.None || list.x.budget[used] > 0 {
			list.all = append(list.all, Transition{k, uint16(id)}) //nolint:gosec // fits: few values
		}
	}
}

// addToProcesses adds transitions on the live processes that match.
func (list *transitionList) addToProcesses(matches func(*Process) bool, kinds ...Kind) {
	for i, p := range list.x.processes {
		if !p.dead && matches(p) {
			list.add(i, kinds...)
		}
	}
}

// addToActors adds a transition on the live actors that match.
func (list *transitionList) addToActors(matches func(*Actor) bool, k Kind) {
	for i, a := range list.x.actors {
		if !a.Dead() && matches(a) {
			list.add(i, k)
		}
	}
}

// Transitions lists what can happen next, in a fixed order. The list is empty when everybody has finished or nobody can go on. It is
// valid until the next call.
func (x *Execution) Transitions() []Transition {
	x.checkUnexplainedWakes()
	list := transitionList{x: x, all: x.Enabled.All[:0]}
	if x.CountUnfinished() > 0 {
		list.addMoves()
		list.addWaitEnds()
		list.addToProcesses(func(p *Process) bool { return !p.paused && p.listenerWithMessage() != nil }, ReceivesMessage, LosesMessage)
		active := len(list.all) > 0
		list.addProcessFaults()
		list.addToActors((*Actor).canLeave, Leaves)
		list.addToActors(func(a *Actor) bool { return a.canLeave() && a.canMissEnd() }, LeavesUnnoticed)
		list.addTime(active)
		list.addServerFaults()
		list.addToProcesses(func(p *Process) bool { return p.hasBegun() && !p.hasEnded() }, ClockJumps)
		if !x.Cluster.OnNodes() && x.Cluster.Servers()[0].HasExpiringKey() {
			list.add(0, RedisClockJumps)
		}
		list.addToActors(func(a *Actor) bool { return !a.Paused() && a.firstTimeout() != nil }, TimesOut)
		list.addToActors(func(a *Actor) bool { return a.firstTimeout() != nil && a.canMissEnd() }, TimesOutUnnoticed)
	}
	list.addArrivals()
	canProgress := slices.ContainsFunc(list.all, Transition.canBringProgress)
	if !canProgress {
		list.all = list.all[:0] // faults do not let an actor make progress
		list.addRetries()
	}
	onlyTimeHelps := !slices.ContainsFunc(list.all, func(t Transition) bool { return t.canBringProgress() && t.Kind != TimePasses })
	onlyFutilePolls := onlyTimeHelps && x.hasOnlyFutilePolls()
	onlyFutilePolls = len(list.all) > 0 && (!canProgress || onlyFutilePolls)
	x.Enabled = EnabledTransitions{All: list.all, OnlyFutilePolls: onlyFutilePolls, LastResort: list.lastResort}
	return list.all
}

// EnabledTransitions are the transitions that are possible next.
type EnabledTransitions struct {
	All             []Transition // possible transitions, in a fixed order
	OnlyFutilePolls bool         // all transitions lead only to polls in vain
	LastResort      bool         // all transitions are retries before the waiters count as stuck
}

// transitionList collects the transitions of EnabledTransitions.
type transitionList struct {
	x          *Execution
	all        []Transition
	lastResort bool // see EnabledTransitions.LastResort
}

// addMoves adds the next action of each task, and the faults that may strike it.
func (list *transitionList) addMoves() {
	for _, t := range list.x.tasks {
		if !t.isRunnable() {
			continue
		}
		if t.subscribing || t.actor.Paused() { // commands that were sent take effect even while the process is paused
			list.add(t.id, Moves)
			continue
		}
		list.add(t.id, Moves, LosesReply, DiesAfter, LosesRequest, Delays, Resends)
		if list.x.Cluster.LaggingServer() == nil {
			list.add(t.id, StopsReplication, StopsSnapshots)
		}
		list.addNodeFaults(t)
	}
}

// addServerFaults adds the failover to a lagging replica or the rollback to an old snapshot, and the eviction of the lock.
func (list *transitionList) addServerFaults() {
	switch s := list.x.Cluster.LaggingServer(); {
	case s == nil || s.Health != simredis.Healthy:
	case s.StandbyIsSnapshot:
		list.add(0, RollsBack)
	default:
		list.add(0, FailsOver)
	}
	if canEvict(list.x, Evicts, 0) {
		list.add(0, Evicts)
	}
}

// addNodeFaults adds the faults of the node that t's command goes to. They happen just before the command arrives, as nobody could
// notice them earlier.
func (list *transitionList) addNodeFaults(t *Task) {
	if t.pending == nil || t.server == 0 {
		return
	}
	s := list.x.Cluster.Servers()[t.server]
	if s.Health != simredis.Healthy {
		return
	}
	list.add(t.id, NodeCrashes, NodeHangs)
	if len(s.State.Keys) > 0 {
		list.add(t.id, NodeRestarts)
	}
	if s.HasExpiringKey() {
		list.add(t.id, NodeClockJumps)
	}
}

// addProcessFaults adds pauses and crashes between commands, and the ends of pauses. Pauses after a command follow, because their schedules
// are harder to read.
func (list *transitionList) addProcessFaults() {
	moves := len(list.all)
	for i, p := range list.x.processes {
		switch {
		case p.dead || !p.hasBegun() || p.hasEnded():
		case p.paused:
			list.add(i, Resumes)
		default:
			list.add(i, Pauses)
			if t := p.firstSender(); t != nil {
				list.add(t.id, DiesBefore)
			}
		}
	}
	for _, t := range list.all[:moves] {
		task := list.x.tasks[t.ID]
		if t.Kind == Moves && !task.subscribing && !task.actor.Paused() && len(task.pipelineRest) <= 1 {
			list.add(int(t.ID), PausesAfter)
		}
	}
}

// addTime adds the passing of time: as an ordinary step if no task can move, and otherwise as a fault. If nothing is due either, waiters
// that would repeat their last round try once more before they count as stuck.
func (list *transitionList) addTime(active bool) {
	expiry, next := list.x.Cluster.NextExpiry(), list.x.timers.earliest()
	switch {
	case !active && (expiry > 0 || next != nil || list.canIdle()):
		list.add(0, TimePasses)
	case !active && len(list.all) == 0:
		for _, t := range list.x.tasks {
			if t.isInBriefSleep() && t.isLive() && !t.round.repeatsLast {
				list.lastResort = true
				list.add(t.id, Moves)
			}
		}
	case active && list.x.IsTimerNext():
		list.add(0, Slow)
	}
	if active && expiry > 0 {
		list.add(0, Expires)
	}
}

// addRetries adds the attempts of waiters that will be in vain, for a state in which no other transition lets an actor make progress.
func (list *transitionList) addRetries() {
	if list.lastResort || list.x.CountUnfinished() == 0 {
		return
	}
	for _, t := range list.x.tasks {
		if t.isLive() && t.isInBriefSleep() && t.wouldRepeat() {
			list.add(t.id, PollsOn)
		}
	}
}

// CountUnfinished returns the number of live actors that have not finished.
func (x *Execution) CountUnfinished() (n int) {
	for _, a := range x.actors {
		if !a.finished && !a.Dead() {
			n++
		}
	}
	return n
}

// isRunnable reports whether t can do something by itself. A waiter that has tried in vain is not runnable until its next attempt could get
// another reply.
func (t *Task) isRunnable() bool {
	switch {
	case t.isMidPipeline() && !t.actor.Dead():
		return true
	case !t.isLive():
		return false
	case t == t.actor.mainTask && !t.actor.started:
		return t.actor.canStart()
	case t.hasAction():
		return true
	default:
		return t.isInBriefSleep() && !t.wouldRepeat()
	}
}

// canIdle reports whether time may pass although nothing is due, because a waiter's attempts depend on a clock. Two such steps in a row
// are enough, as each is longer than the expiry of a lock.
func (list *transitionList) canIdle() bool {
	return list.x.idleSteps < 2 && slices.ContainsFunc(list.x.tasks, func(t *Task) bool {
		return t.isInBriefSleep() && t.isLive() && (t.round.readClock || t.round.timeDependent)
	})
}

// canStart reports whether a may start. Interchangeable actors start in the order of their names.
func (a *Actor) canStart() bool {
	return !a.Process.x.startsInOrder() || !slices.ContainsFunc(a.Process.x.actors[:a.Index], func(b *Actor) bool {
		return !b.started && b.triesOnce == a.triesOnce && (b.Process == a.Process || a.Process.x.Scenario.HasInterchangeableProcesses())
	})
}
