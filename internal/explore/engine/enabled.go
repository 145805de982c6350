package engine

import (
	"slices"

	"lockstep/internal/explore/fault"
	"lockstep/internal/explore/simredis"
)

// add adds what can happen to the one with this id, but for faults whose budget is used up.
func (o *options) add(id int, kinds ...Kind) {
	for _, k := range kinds {
		if used := o.x.rows[k].uses; used == fault.None || o.x.left[used] > 0 {
			o.all = append(o.all, Transition{k, uint16(id)}) //nolint:gosec // there are few
		}
	}
}

// addToProcesses adds what can happen to such processes that live.
func (o *options) addToProcesses(which func(*Process) bool, kinds ...Kind) {
	for i, p := range o.x.processes {
		if !p.dead && which(p) {
			o.add(i, kinds...)
		}
	}
}

// addToActors adds what can happen to such actors that live.
func (o *options) addToActors(which func(*Actor) bool, k Kind) {
	for i, a := range o.x.actors {
		if !a.Dead() && which(a) {
			o.add(i, k)
		}
	}
}

// Transitions lists what can happen next, in a fixed order. There is nothing when everybody has finished, or nobody can go on. The list is
// good until the next call.
func (x *Execution) Transitions() []Transition {
	x.checkWaits()
	o := options{x: x, all: x.Options.All[:0]}
	if x.Going() > 0 {
		o.addMoves()
		o.addEnds()
		o.addToProcesses(func(p *Process) bool { return !p.paused && p.due() != nil }, Woken, Unwoken)
		active := len(o.all) > 0
		o.addProcessFaults()
		o.addToActors((*Actor).canCancel, Leaves)
		o.addToActors(func(a *Actor) bool { return a.canCancel() && a.mayMiss() }, LeavesUnnoticed)
		o.addTime(active)
		o.addStale()
		o.addToProcesses(func(p *Process) bool { return p.hasBegun() && !p.ended() }, ClockJumps)
		if !x.Cluster.OnNodes() && x.Cluster.Servers()[0].Expires() {
			o.add(0, RedisClockJumps)
		}
		o.addToActors(func(a *Actor) bool { return !a.Paused() && a.itsTimeout() != nil }, TimesOut)
		o.addToActors(func(a *Actor) bool { return a.itsTimeout() != nil && a.mayMiss() }, TimesOutUnnoticed)
	}
	o.addArrivals()
	hopeful := slices.ContainsFunc(o.all, Transition.canSucceed)
	if !hopeful {
		o.all = o.all[:0] // faults alone bring nobody on
		o.addRetries()
	}
	// if time alone can bring somebody on, and will bring nothing but attempts in vain
	inVain := !slices.ContainsFunc(o.all, func(t Transition) bool { return t.canSucceed() && t.Kind != TimePasses }) && x.onlyPolls()
	x.Options = Options{All: o.all, Quiet: len(o.all) > 0 && (!hopeful || inVain), LastResort: o.lastResort}
	return o.all
}

// Options are what can happen next.
type Options struct {
	All        []Transition
	Quiet      bool // they are waiters that ask in vain, and nothing else
	LastResort bool // they are those that are there before everybody is given up for stuck
}

// options are Options in the making.
type options struct {
	x          *Execution
	all        []Transition
	lastResort bool
}

// addMoves adds the commands, and what may happen to each.
func (o *options) addMoves() {
	for _, t := range o.x.tasks {
		if !t.isRunnable() {
			continue
		}
		if t.subscribes || t.actor.Paused() { // what it has sent takes effect
			o.add(t.id, Moves)
			continue
		}
		o.add(t.id, Moves, LosesReply, DiesAfter, LosesRequest, Delays, Resends)
		if o.x.Cluster.Lagging() == nil {
			o.add(t.id, Unsynced, Unsaved)
		}
		o.addNodeFaults(t)
	}
}

// addStale adds that a server's replica, which lags, takes its place, or its snapshot; and that the lock is evicted.
func (o *options) addStale() {
	switch s := o.x.Cluster.Lagging(); {
	case s == nil || s.Health != simredis.Well:
	case s.Saved:
		o.add(0, RollsBack)
	default:
		o.add(0, FailsOver)
	}
	if canEvict(o.x, Evicts, 0) {
		o.add(0, Evicts)
	}
}

// addNodeFaults adds what may have happened to a node by the time t's command comes to it: before, nobody could tell.
func (o *options) addNodeFaults(t *Task) {
	if t.pending == nil || t.to == 0 {
		return
	}
	s := o.x.Cluster.Servers()[t.to]
	if s.Health != simredis.Well {
		return
	}
	o.add(t.id, NodeCrashes, NodeHangs)
	if len(s.Holds.Keys) > 0 {
		o.add(t.id, NodeRestarts)
	}
	if s.Expires() {
		o.add(t.id, NodeClockJumps)
	}
}

// addProcessFaults adds pauses and crashes that no command is part of, and the end of pauses; then, as they are harder to read, pauses
// after a command.
func (o *options) addProcessFaults() {
	moves := len(o.all)
	for i, p := range o.x.processes {
		switch {
		case p.dead || !p.hasBegun() || p.ended():
		case p.paused:
			o.add(i, Resumes)
		default:
			o.add(i, Pauses)
			if t := p.sender(); t != nil {
				o.add(t.id, DiesBefore)
			}
		}
	}
	for _, t := range o.all[:moves] {
		task := o.x.tasks[t.ID]
		if t.Kind == Moves && !task.subscribes && !task.actor.Paused() && len(task.rest) <= 1 {
			o.add(int(t.ID), PausesAfter)
		}
	}
}

// addTime adds that time passes: by itself if nobody is active, and otherwise as a fault. If nothing is due, those who would repeat their
// last round try once more before they are given up for stuck.
func (o *options) addTime(active bool) {
	expiry, next := o.x.Cluster.NextExpiry(), o.x.timers.next()
	switch {
	case !active && (expiry > 0 || next != nil || o.mayIdle()):
		o.add(0, TimePasses)
	case !active && len(o.all) == 0:
		for _, t := range o.x.tasks {
			if t.asleep() && t.live() && !t.round.repeats {
				o.lastResort = true
				o.add(t.id, Moves)
			}
		}
	case active && o.x.TimerNext():
		o.add(0, Slow)
	}
	if active && expiry > 0 {
		o.add(0, Expires)
	}
}

// addRetries adds the waiters that would ask in vain, when nothing else can bring anybody on.
func (o *options) addRetries() {
	if o.lastResort || o.x.Going() == 0 {
		return
	}
	for _, t := range o.x.tasks {
		if t.live() && t.asleep() && t.wouldRepeat() {
			o.add(t.id, PollsOn)
		}
	}
}

// Going returns how many actors live, and have not finished.
func (x *Execution) Going() (n int) {
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
	case t.midway() && !t.actor.Dead():
		return true
	case !t.live():
		return false
	case t == t.actor.main && !t.actor.started:
		return t.actor.mayStart()
	case t.acts():
		return true
	default:
		return t.asleep() && !t.wouldRepeat()
	}
}

// mayIdle reports whether time may pass by a lock's expiry although nothing is due: somebody tries who looks at a clock. Twice in a row is
// enough.
func (o *options) mayIdle() bool {
	return o.x.idle < 2 && slices.ContainsFunc(o.x.tasks, func(t *Task) bool {
		return t.asleep() && t.live() && (t.round.looked || t.round.timed)
	})
}

// mayStart reports whether a may start: where actors that start alike are interchangeable, they start in the order of their names.
func (a *Actor) mayStart() bool {
	return !a.Process.x.inOrder() || !slices.ContainsFunc(a.Process.x.actors[:a.Index], func(b *Actor) bool {
		return !b.started && b.once == a.once && (b.Process == a.Process || a.Process.x.Scenario.Alike())
	})
}
