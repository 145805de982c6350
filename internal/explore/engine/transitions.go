package engine

import (
	"slices"

	"lockstep/internal/explore/fault"
	"lockstep/internal/explore/simredis"
)

// add adds what can happen to the one with this id, but for faults whose budget is used up.
func (o *optionList) add(id int, kinds ...Kind) {
	for _, k := range kinds {
		if used := o.x.kindTable[k].budget; used == fault.None || o.x.budget[used] > 0 {
			o.all = append(o.all, Transition{k, uint16(id)}) //nolint:gosec // there are few
		}
	}
}

// addToProcesses adds what can happen to such processes that live.
func (o *optionList) addToProcesses(which func(*Process) bool, kinds ...Kind) {
	for i, p := range o.x.processes {
		if !p.dead && which(p) {
			o.add(i, kinds...)
		}
	}
}

// addToActors adds what can happen to such actors that live.
func (o *optionList) addToActors(which func(*Actor) bool, k Kind) {
	for i, a := range o.x.actors {
		if !a.Dead() && which(a) {
			o.add(i, k)
		}
	}
}

// Transitions lists what can happen next, in a fixed order. There is nothing when everybody has finished, or nobody can go on. The list is
// good until the next call.
func (x *Execution) Transitions() []Transition {
	x.checkUnexplainedWakes()
	o := optionList{x: x, all: x.Options.All[:0]}
	if x.CountUnfinished() > 0 {
		o.addMoves()
		o.addWaitEnds()
		o.addToProcesses(func(p *Process) bool { return !p.paused && p.listenerWithMessage() != nil }, Woken, Unwoken)
		active := len(o.all) > 0
		o.addProcessFaults()
		o.addToActors((*Actor).canCancel, Leaves)
		o.addToActors(func(a *Actor) bool { return a.canCancel() && a.canMissEnd() }, LeavesUnnoticed)
		o.addTime(active)
		o.addPromotions()
		o.addToProcesses(func(p *Process) bool { return p.hasBegun() && !p.hasEnded() }, ClockJumps)
		if !x.Cluster.OnNodes() && x.Cluster.Servers()[0].HasExpiringKey() {
			o.add(0, RedisClockJumps)
		}
		o.addToActors(func(a *Actor) bool { return !a.Paused() && a.firstTimeout() != nil }, TimesOut)
		o.addToActors(func(a *Actor) bool { return a.firstTimeout() != nil && a.canMissEnd() }, TimesOutUnnoticed)
	}
	o.addArrivals()
	hopeful := slices.ContainsFunc(o.all, Transition.canBringProgress)
	if !hopeful {
		o.all = o.all[:0] // faults alone bring nobody on
		o.addRetries()
	}
	// if time alone can bring somebody on, and will bring nothing but attempts in vain
	inVain := !slices.ContainsFunc(o.all, func(t Transition) bool { return t.canBringProgress() && t.Kind != TimePasses }) && x.hasOnlyFutilePolls()
	x.Options = Options{All: o.all, OnlyFutilePolls: len(o.all) > 0 && (!hopeful || inVain), LastResort: o.lastResort}
	return o.all
}

// Options are what can happen next.
type Options struct {
	All             []Transition
	OnlyFutilePolls bool // they are waiters that ask in vain, and nothing else
	LastResort      bool // they are those that are there before everybody is given up for stuck
}

// options are Options in the making.
type optionList struct {
	x          *Execution
	all        []Transition
	lastResort bool
}

// addMoves adds the commands, and what may happen to each.
func (o *optionList) addMoves() {
	for _, t := range o.x.tasks {
		if !t.isRunnable() {
			continue
		}
		if t.subscribing || t.actor.Paused() { // what it has sent takes effect
			o.add(t.id, Moves)
			continue
		}
		o.add(t.id, Moves, LosesReply, DiesAfter, LosesRequest, Delays, Resends)
		if o.x.Cluster.LaggingServer() == nil {
			o.add(t.id, Unsynced, Unsaved)
		}
		o.addNodeFaults(t)
	}
}

// addStale adds that a server's replica, which lags, takes its place, or its snapshot; and that the lock is evicted.
func (o *optionList) addPromotions() {
	switch s := o.x.Cluster.LaggingServer(); {
	case s == nil || s.Health != simredis.Well:
	case s.StandbyIsSnapshot:
		o.add(0, RollsBack)
	default:
		o.add(0, FailsOver)
	}
	if canEvict(o.x, Evicts, 0) {
		o.add(0, Evicts)
	}
}

// addNodeFaults adds what may have happened to a node by the time t's command comes to it: before, nobody could tell.
func (o *optionList) addNodeFaults(t *Task) {
	if t.pending == nil || t.server == 0 {
		return
	}
	s := o.x.Cluster.Servers()[t.server]
	if s.Health != simredis.Well {
		return
	}
	o.add(t.id, NodeCrashes, NodeHangs)
	if len(s.State.Keys) > 0 {
		o.add(t.id, NodeRestarts)
	}
	if s.HasExpiringKey() {
		o.add(t.id, NodeClockJumps)
	}
}

// addProcessFaults adds pauses and crashes that no command is part of, and the end of pauses; then, as they are harder to read, pauses
// after a command.
func (o *optionList) addProcessFaults() {
	moves := len(o.all)
	for i, p := range o.x.processes {
		switch {
		case p.dead || !p.hasBegun() || p.hasEnded():
		case p.paused:
			o.add(i, Resumes)
		default:
			o.add(i, Pauses)
			if t := p.firstSender(); t != nil {
				o.add(t.id, DiesBefore)
			}
		}
	}
	for _, t := range o.all[:moves] {
		task := o.x.tasks[t.ID]
		if t.Kind == Moves && !task.subscribing && !task.actor.Paused() && len(task.pipelineRest) <= 1 {
			o.add(int(t.ID), PausesAfter)
		}
	}
}

// addTime adds that time passes: by itself if nobody is active, and otherwise as a fault. If nothing is due, those who would repeat their
// last round try once more before they are given up for stuck.
func (o *optionList) addTime(active bool) {
	expiry, next := o.x.Cluster.NextExpiry(), o.x.timers.earliest()
	switch {
	case !active && (expiry > 0 || next != nil || o.canIdle()):
		o.add(0, TimePasses)
	case !active && len(o.all) == 0:
		for _, t := range o.x.tasks {
			if t.isInBriefSleep() && t.isLive() && !t.round.repeatsLast {
				o.lastResort = true
				o.add(t.id, Moves)
			}
		}
	case active && o.x.IsTimerNext():
		o.add(0, Slow)
	}
	if active && expiry > 0 {
		o.add(0, Expires)
	}
}

// addRetries adds the waiters that would ask in vain, when nothing else can bring anybody on.
func (o *optionList) addRetries() {
	if o.lastResort || o.x.CountUnfinished() == 0 {
		return
	}
	for _, t := range o.x.tasks {
		if t.isLive() && t.isInBriefSleep() && t.wouldRepeat() {
			o.add(t.id, PollsOn)
		}
	}
}

// Going returns how many actors live, and have not finished.
func (x *Execution) CountUnfinished() (n int) {
	for _, a := range x.actors {
		if !a.finished && !a.Dead() {
			n++
		}
	}
	return n
}

// isRunnable reports whether t can do something by itself. A waiter that tried in vain cannot, until it would learn something else.
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

// mayIdle reports whether time may pass by a lock's expiry although nothing is due: somebody tries who looks at a clock. Twice in a row is
// enough.
func (o *optionList) canIdle() bool {
	return o.x.idleSteps < 2 && slices.ContainsFunc(o.x.tasks, func(t *Task) bool {
		return t.isInBriefSleep() && t.isLive() && (t.round.readClock || t.round.timeDependent)
	})
}

// mayStart reports whether a may start: where actors that start alike are interchangeable, they start in the order of their names.
func (a *Actor) canStart() bool {
	return !a.Process.x.startsInOrder() || !slices.ContainsFunc(a.Process.x.actors[:a.Index], func(b *Actor) bool {
		return !b.started && b.triesOnce == a.triesOnce && (b.Process == a.Process || a.Process.x.Scenario.HasInterchangeableProcesses())
	})
}
