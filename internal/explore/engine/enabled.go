package engine

import (
	"slices"

	"lockstep/internal/explore/simredis"
)

// add adds what can happen to the one with this id, but for faults whose budget is used up.
func (x *Execution) add(id int, kinds ...Kind) {
	for _, k := range kinds {
		if left := x.budgets[k]; left == nil || *left > 0 {
			x.options = append(x.options, Transition{k, uint16(id)}) //nolint:gosec // there are few
		}
	}
}

// addToProcesses adds what can happen to such processes that live.
func (x *Execution) addToProcesses(which func(*Process) bool, kinds ...Kind) {
	for i, p := range x.processes {
		if !p.dead && which(p) {
			x.add(i, kinds...)
		}
	}
}

// addToActors adds what can happen to such actors that live.
func (x *Execution) addToActors(which func(*Actor) bool, k Kind) {
	for i, a := range x.actors {
		if !a.Dead() && which(a) {
			x.add(i, k)
		}
	}
}

// Transitions lists what can happen next, in a fixed order. There is nothing when everybody has finished, or nobody can go on. The list is
// good until the next call.
func (x *Execution) Transitions() []Transition {
	x.options, x.desperate = x.options[:0], false
	x.watched()
	if x.Going() > 0 {
		x.addMoves()
		x.addEnds()
		x.addToProcesses(func(p *Process) bool { return !p.paused && x.due(p) != nil }, Woken, Unwoken)
		active := len(x.options) > 0
		x.addProcessFaults()
		x.addToActors(func(a *Actor) bool { return a.canCancel() }, Leaves)
		x.addToActors(func(a *Actor) bool { return a.canCancel() && x.mayMiss(a) }, LeavesUnnoticed)
		x.addTime(active)
		x.addStale()
		x.addToProcesses(func(p *Process) bool { return p.hasBegun() && !p.ended() }, ClockJumps)
		if !x.Cluster.OnNodes() && x.Cluster.Servers()[0].Expires() {
			x.add(0, RedisClockJumps)
		}
		x.addToActors(func(a *Actor) bool { return !a.Paused() && x.itsTimeout(a) != nil }, TimesOut)
		x.addToActors(func(a *Actor) bool { return x.itsTimeout(a) != nil && x.mayMiss(a) }, TimesOutUnnoticed)
	}
	x.addArrivals()
	hopeful := slices.ContainsFunc(x.options, Transition.canSucceed)
	if !hopeful {
		x.options = x.options[:0] // faults alone bring nobody on
		x.addRetries()
	}
	// all that can bring somebody on is time, and that will bring rounds in vain alone
	inVain := !slices.ContainsFunc(x.options, func(t Transition) bool { return t.canSucceed() && t.Kind != TimePasses }) && x.onlyPolls()
	x.quiet = len(x.options) > 0 && (!hopeful || inVain)
	return x.options
}

// IsQuiet reports whether the last Transitions are waiters that ask in vain, and nothing else.
func (x *Execution) IsQuiet() bool { return x.quiet }

// LastResort reports whether the last Transitions are those that are there before everybody is given up for stuck.
func (x *Execution) LastResort() bool { return x.desperate }

// addMoves adds the commands, and what may happen to each.
func (x *Execution) addMoves() {
	for _, t := range x.tasks {
		if !x.isRunnable(t) {
			continue
		}
		if t.subscribes || t.actor.Paused() { // what it has sent takes effect
			x.add(t.id, Moves)
			continue
		}
		x.add(t.id, Moves, LosesReply, DiesAfter, LosesRequest, Delays, Resends)
		if x.Cluster.Lagging() == nil {
			x.add(t.id, Unsynced, Unsaved)
		}
		x.addNodeFaults(t)
	}
}

// addStale adds that a server's replica, which lags, takes its place, or its snapshot; and that the lock is evicted.
func (x *Execution) addStale() {
	switch s := x.Cluster.Lagging(); {
	case s == nil || s.Health != simredis.Well:
	case s.Saved:
		x.add(0, RollsBack)
	default:
		x.add(0, FailsOver)
	}
	if x.evictable() {
		x.add(0, Evicts)
	}
}

// addNodeFaults adds what may have happened to a node by the time t's command comes to it: before, nobody could tell.
func (x *Execution) addNodeFaults(t *Task) {
	if t.pending == nil || t.to == 0 {
		return
	}
	s := x.Cluster.Servers()[t.to]
	if s.Health != simredis.Well {
		return
	}
	x.add(t.id, NodeCrashes, NodeHangs)
	if len(s.Holds.Keys) > 0 {
		x.add(t.id, NodeRestarts)
	}
	if s.Expires() {
		x.add(t.id, NodeClockJumps)
	}
}

// addProcessFaults adds pauses and crashes that no command is part of, and the end of pauses; then, as they are harder to read, pauses
// after a command.
func (x *Execution) addProcessFaults() {
	moves := len(x.options)
	for i, p := range x.processes {
		switch {
		case p.dead || !p.hasBegun() || p.ended():
		case p.paused:
			x.add(i, Resumes)
		default:
			x.add(i, Pauses)
			if t := x.sender(p); t != nil {
				x.add(t.id, DiesBefore)
			}
		}
	}
	for _, t := range x.options[:moves] {
		task := x.tasks[t.ID]
		if t.Kind == Moves && !task.subscribes && !task.actor.Paused() && len(task.rest) <= 1 {
			x.add(int(t.ID), PausesAfter)
		}
	}
}

// addTime adds that time passes: by itself if nobody is active, and otherwise as a fault. If nothing is due, those who would repeat their
// last round try once more before they are given up for stuck.
func (x *Execution) addTime(active bool) {
	expiry, next := x.Cluster.NextExpiry(), x.nextTimer()
	switch {
	case !active && (expiry > 0 || next != nil || x.mayIdle()):
		x.add(0, TimePasses)
	case !active && len(x.options) == 0:
		for _, t := range x.tasks {
			if t.asleep() && t.live() && !t.round.repeats {
				x.desperate = true
				x.add(t.id, Moves)
			}
		}
	case active && x.TimerNext():
		x.add(0, Slow)
	}
	if active && expiry > 0 {
		x.add(0, Expires)
	}
}

// addRetries adds the waiters that would ask in vain, when nothing else can bring anybody on.
func (x *Execution) addRetries() {
	if x.desperate || x.Going() == 0 {
		return
	}
	for _, t := range x.tasks {
		if t.live() && t.asleep() && x.wouldRepeat(t) {
			x.add(t.id, PollsOn)
		}
	}
}

// Going returns how many actors live, and have not finished.
func (x *cast) Going() (n int) {
	for _, a := range x.actors {
		if !a.finished && !a.Dead() {
			n++
		}
	}
	return n
}

// isRunnable reports whether t can do something by itself. A waiter that tried in vain cannot, until it would learn something else.
func (x *Execution) isRunnable(t *Task) bool {
	switch {
	case t.midway() && !t.actor.Dead():
		return true
	case !t.live():
		return false
	case t == t.actor.main && !t.actor.started:
		return x.mayStart(t.actor)
	case t.acts():
		return true
	default:
		return t.asleep() && !x.wouldRepeat(t)
	}
}

// mayIdle reports whether time may pass by a lock's expiry although nothing is due: somebody tries who looks at a clock. Twice in a row is
// enough.
func (x *machine) mayIdle() bool {
	return x.idle < 2 && slices.ContainsFunc(x.tasks, func(t *Task) bool { return t.asleep() && t.live() && t.round.looked })
}

// mayStart keeps actors that start alike in order: which of them comes first is a matter of names.
func (x *Execution) mayStart(a *Actor) bool {
	return !x.inOrder() || !slices.ContainsFunc(x.actors[:a.Index], func(b *Actor) bool {
		return !b.started && b.once == a.once && (b.Process == a.Process || x.Scenario.Alike())
	})
}
