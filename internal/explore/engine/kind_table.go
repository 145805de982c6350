package engine

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"lockstep/internal/explore/fault"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

// ClockJumpSize is the time by which a clock jumps ahead: more than the expiry of a lock.
const ClockJumpSize = 15 * time.Second

// RestartTime is the time that a server takes to restart.
const RestartTime = time.Second

// kindSpec specifies one kind of transition: its notation, its fault, when it can happen, and what it does.
type kindSpec struct {
	subject subjectKind // kind of thing that the transition happens to
	word    string      // notation: the whole token, or WHO:word, or, for a task, WHO:COMMANDword; "": WHO:COMMAND
	fault   fault.Fault // fault that happens in the transition; None: none
	// budget is the fault of which the transition uses up one; None: none. Of the two steps of a failover or a rollback, only the first has
	// a budget.
	budget fault.Fault
	// canHappen reports whether a transition of kind k is possible for the subject with this id, which may not exist, because a schedule may
	// come from a run of code that behaved differently. nil: a transition is always possible, for a task only if the task is about to move.
	canHappen func(x *Execution, k Kind, id int) bool
	// apply makes the transition happen. It returns false if the result is not a step of its own, such as a fault on a command that was not
	// sent.
	apply func(x *Execution, k Kind, id int) (isStep bool)
}

// kindTable returns the specifications of all kinds. The table has only constants and functions, so returning it costs no more than a copy.
func kindTable() [kindCount]kindSpec {
	return [kindCount]kindSpec{
		Moves:            {subjectTask, "", fault.None, fault.None, nil, moveTask},
		PollsOn:          {subjectTask, "", fault.None, fault.None, nil, moveTask},
		LosesReply:       {subjectTask, "/lost", fault.LostReply, fault.LostReply, nil, moveTask},
		DiesBefore:       {subjectTask, "/dies-before", fault.Crash, fault.Crash, nil, killBeforeCommand},
		DiesAfter:        {subjectTask, "/dies-after", fault.Crash, fault.Crash, nil, moveTask},
		PausesAfter:      {subjectTask, "/pauses-after", fault.Pause, fault.Pause, nil, moveTask},
		LosesRequest:     {subjectTask, "/lost-request", fault.LostRequest, fault.LostRequest, nil, moveTask},
		Delays:           {subjectTask, "/late", fault.Late, fault.Late, nil, moveTask},
		Resends:          {subjectTask, "/resent", fault.Resend, fault.Resend, nil, moveTask},
		Arrives:          {subjectTask, "/arrives", fault.None, fault.None, hasLateCommand, resolveLateCommand},
		NeverArrives:     {subjectTask, "/never-arrives", fault.None, fault.None, hasLateCommand, resolveLateCommand},
		StopsReplication: {subjectTask, "/unsynced", fault.None, fault.Failover, nil, moveAndStopReplication},
		StopsSnapshots:   {subjectTask, "/unsaved", fault.None, fault.Rollback, nil, moveAndStopReplication},
		NodeCrashes:      {subjectTask, "/node-crashes", fault.NodeCrash, fault.NodeCrash, nil, failNode},
		NodeHangs:        {subjectTask, "/node-hangs", fault.NodeHang, fault.NodeHang, nil, failNode},
		NodeRestarts:     {subjectTask, "/node-restarts", fault.NodeRestart, fault.NodeRestart, nil, failNode},
		NodeClockJumps:   {subjectTask, "/node-clock-jumps", fault.RedisClock, fault.RedisClock, nil, failNode},

		TimePasses:      {subjectNone, "time", fault.None, fault.None, nil, advanceTime},
		Slow:            {subjectNone, "slow", fault.Slow, fault.Slow, hasTimer, advanceToTimer},
		Expires:         {subjectNone, "expiry", fault.Expiry, fault.Expiry, nil, advanceToExpiry},
		FailsOver:       {subjectNone, "failover", fault.Failover, fault.None, canPromote, promoteStandby},
		RollsBack:       {subjectNone, "rollback", fault.Rollback, fault.None, canPromote, promoteStandby},
		Evicts:          {subjectNone, "evict", fault.Evict, fault.Evict, canEvict, evict},
		RedisClockJumps: {subjectNone, "redis-clock-jumps", fault.RedisClock, fault.RedisClock, nil, jumpRedisClock},

		Pauses:          {subjectProcess, "pauses", fault.Pause, fault.Pause, nil, pauseProcess},
		Resumes:         {subjectProcess, "resumes", fault.None, fault.None, nil, resumeProcess},
		ReceivesMessage: {subjectProcess, "woken", fault.None, fault.None, hasMessage, deliverOrDropMessage},
		LosesMessage:    {subjectProcess, "unwoken", fault.LostWake, fault.LostWake, hasMessage, deliverOrDropMessage},
		ClockJumps:      {subjectProcess, "clock-jumps", fault.ClockJump, fault.ClockJump, nil, jumpProcessClock},

		Leaves:            {subjectActor, "leaves", fault.Cancel, fault.Cancel, nil, cancelClient},
		LeavesUnnoticed:   {subjectActor, "leaves-unnoticed", fault.Cancel, fault.Cancel, nil, cancelClient},
		TimesOut:          {subjectActor, "times-out", fault.Timeout, fault.Timeout, hasTimeout, fireTimeout},
		TimesOutUnnoticed: {subjectActor, "times-out-unnoticed", fault.Timeout, fault.Timeout, hasTimeout, fireTimeout},
		GoesOn:            {subjectWaiter, "goes-on", fault.None, fault.None, canEndWait, endUndecidedWait},
		Notices:           {subjectWaiter, "notices", fault.None, fault.None, canEndWait, endUndecidedWait},
	}
}

// The functions of the table.

// moveTask runs the next action of a task, with the fault k on its command.
func moveTask(x *Execution, k Kind, id int) bool { return x.tasks[id].move(k) }

// moveAndStopReplication makes a command take effect whose changes the replica or the snapshot does not receive, and no later ones either.
// The result is not a step of its own if a promotion would lose nothing.
func moveAndStopReplication(x *Execution, k Kind, id int) bool {
	isStep := x.tasks[id].move(k)
	s := x.Cluster.LaggingServer()
	return isStep && s != nil && x.Cluster.WouldLose(s)
}

// killBeforeCommand kills the process of a task.
func killBeforeCommand(x *Execution, _ Kind, id int) bool {
	x.tasks[id].actor.Process.dead = true
	return true
}

// hasLateCommand reports whether a command of the task is late.
func hasLateCommand(x *Execution, _ Kind, id int) bool {
	return id < len(x.tasks) && x.tasks[id].firstLate() >= 0
}

// resolveLateCommand makes the first late command of a task take effect, or, for NeverArrives, drops the late rest of its pipeline.
func resolveLateCommand(x *Execution, k Kind, id int) bool {
	if t := x.tasks[id]; k == Arrives {
		t.executeLate()
	} else {
		t.dropLateRest()
	}
	return true
}

// failNode makes the fault k happen to a node just before a task's command arrives there.
func failNode(x *Execution, k Kind, id int) bool {
	t := x.tasks[id]
	switch s := x.Cluster.Servers()[t.server]; k {
	case NodeCrashes:
		s.Health = simredis.Crashed
		x.breakConnections(s)
	case NodeHangs:
		s.Health = simredis.Hung
	case NodeRestarts:
		x.breakConnections(s)
		x.setState(s, x.Cluster.EmptyState(), nil)
	default:
		x.advanceServerClock(s)
	}
	return t.connBroken || t.move(Moves)
}

// advanceTime advances the time to the next timer or expiry. If nothing is due, it advances past the expiry of a lock on every clock.
func advanceTime(x *Execution, _ Kind, _ int) bool {
	expiry, next := x.Cluster.NextExpiry(), x.timers.earliest()
	if expiry == 0 && next == nil {
		x.idleSteps++
	}
	until := x.now + cmp.Or(expiry, TTL+x.MaxClockDifference())
	if x.IsTimerNext() {
		until = next.dueAt
	}
	x.advanceTo(until)
	return true
}

// hasTimer reports whether a timer of a running process is set.
func hasTimer(x *Execution, _ Kind, _ int) bool { return x.timers.earliest() != nil }

// advanceToTimer advances the time to the next timer.
func advanceToTimer(x *Execution, _ Kind, _ int) bool {
	x.advanceTo(x.timers.earliest().dueAt)
	return true
}

// advanceToExpiry advances the time to the next expiry of a key.
func advanceToExpiry(x *Execution, _ Kind, _ int) bool {
	x.advanceTo(x.now + x.Cluster.NextExpiry())
	return true
}

// canPromote reports whether a server has a lagging replica, for FailsOver, or an old snapshot, for RollsBack.
func canPromote(x *Execution, k Kind, _ int) bool {
	s := x.Cluster.LaggingServer()
	return s != nil && s.StandbyIsSnapshot == (k == RollsBack)
}

// promoteStandby replaces a server by its replica or snapshot. Its subscribers reconnect: messages that they have not received are lost,
// and an empty message tells them that they may have missed some.
//
// A failover has two steps. First, from some command on, the replica gets no more updates: so the explorer chooses what will be lost.
// Later the replica takes its master's place, and all changes from that command on are gone, although they were acknowledged. A rollback
// has two steps as well: a snapshot, and a restart from it.
func promoteStandby(x *Execution, k Kind, _ int) bool {
	s := x.Cluster.LaggingServer()
	x.breakConnections(s)
	if k == RollsBack {
		x.advanceTo(x.now + RestartTime)
	}
	x.setState(s, x.Cluster.Promote(s), nil)
	if s.Index > 0 {
		return true // locks on several nodes subscribe to no channels there
	}
	for _, l := range x.listeners {
		l.messages = []string{""}
	}
	return true
}

// canEvict reports whether Redis would evict the lock.
func canEvict(x *Execution, _ Kind, _ int) bool {
	k, ok := x.Cluster.LockKey(lock.Key)
	return !x.Cluster.OnNodes() && ok && k.TTL > 0
}

// evict removes the lock from Redis.
func evict(x *Execution, _ Kind, _ int) bool {
	s := x.Cluster.Servers()[0]
	x.setState(s, x.Cluster.StateWithout(s, lock.Key), nil)
	return true
}

// jumpRedisClock makes the clock of the first server jump ahead.
func jumpRedisClock(x *Execution, _ Kind, _ int) bool {
	x.advanceServerClock(x.Cluster.Servers()[0])
	return true
}

// pauseProcess pauses a process.
func pauseProcess(x *Execution, _ Kind, id int) bool {
	x.processes[id].paused = true
	return true
}

// resumeProcess ends the pause of a process.
func resumeProcess(x *Execution, _ Kind, id int) bool {
	x.processes[id].resume()
	return true
}

// hasMessage reports whether a message for the process is under way.
func hasMessage(x *Execution, _ Kind, id int) bool {
	return x.processes[id].listenerWithMessage() != nil
}

// deliverOrDropMessage delivers the oldest message for a process, or loses it.
func deliverOrDropMessage(x *Execution, k Kind, id int) bool {
	if p := x.processes[id]; k == ReceivesMessage {
		p.deliverMessage()
	} else {
		p.listenerWithMessage().takeMessage()
	}
	return true
}

// jumpProcessClock makes the clock of a process jump ahead. Its timers measure elapsed time, and are not affected.
func jumpProcessClock(x *Execution, _ Kind, id int) bool {
	p := x.processes[id]
	x.totalClockJump += ClockJumpSize
	p.clockOffset += ClockJumpSize
	p.recordEvent("clock jumps")
	invalidateClockReads(x.tasks)
	return true
}

// cancelClient cancels the context of an actor, whose client has gone away.
func cancelClient(x *Execution, k Kind, id int) bool {
	a := x.actors[id]
	a.cancelled, x.endsGoUnnoticed = true, k == LeavesUnnoticed
	a.Process.recordEvent("cancel " + strconv.Itoa(a.indexInProcess))
	a.cancelContext()
	return true
}

// hasTimeout reports whether the actor waits with a timeout.
func hasTimeout(x *Execution, _ Kind, id int) bool { return x.actors[id].firstTimeout() != nil }

// fireTimeout fires an actor's timeout, which the passing of time would not reach.
func fireTimeout(x *Execution, k Kind, id int) bool {
	a := x.actors[id]
	x.endsGoUnnoticed = k == TimesOutUnnoticed
	a.Process.recordEvent("timeout " + strconv.Itoa(a.indexInProcess))
	a.firstTimeout().fire()
	return true
}

// canEndWait reports whether the task is in a wait that the schedule has to end.
func canEndWait(x *Execution, _ Kind, id int) bool {
	return id < len(x.tasks) && x.tasks[id].undecided && slices.Contains(x.waiters, x.tasks[id])
}

// endUndecidedWait ends a wait of the task: it goes on, or notices the end of its context.
func endUndecidedWait(x *Execution, k Kind, id int) bool {
	x.tasks[id].resolveWait(k)
	return true
}
