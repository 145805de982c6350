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

// Jump is how far a clock jumps: longer than the expiry of a lock.
const ClockJumpSize = 15 * time.Second

// Restart is how long a server takes to restart.
const RestartTime = time.Second

// row is one kind of transition: how a schedule writes it, which fault it is, when it can happen, and what it does.
type kindSpec struct {
	subject subjectKind
	word    string      // of a schedule: alone, WHO:word, or, of a task, WHO:COMMANDword; "": WHO:COMMAND
	fault   fault.Fault // that it is
	// uses is the fault whose budget it uses up. The first half of a failover, or of a rollback, does so: the second has to come.
	budget fault.Fault
	// can reports whether it can happen to the one with this id; nil: to a task that is about to move, and to everybody else at any time. A
	// schedule that comes from a run of code which did something else may have tasks, messages and timers that this one has not.
	canHappen func(x *Execution, k Kind, id int) bool
	// happen lets it happen. It reports false if that is no transition of its own: a fault of a command that was not sent.
	apply func(x *Execution, k Kind, id int) (own bool)
}

// table has the row of each kind. It is made of constants and functions alone, so that it costs no more than a copy.
func kindTable() [kindCount]kindSpec {
	return [kindCount]kindSpec{
		Moves:          {subjectTask, "", fault.None, fault.None, nil, moveTask},
		PollsOn:        {subjectTask, "", fault.None, fault.None, nil, moveTask},
		LosesReply:     {subjectTask, "/lost", fault.LostReply, fault.LostReply, nil, moveTask},
		DiesBefore:     {subjectTask, "/dies-before", fault.Crash, fault.Crash, nil, killBeforeCommand},
		DiesAfter:      {subjectTask, "/dies-after", fault.Crash, fault.Crash, nil, moveTask},
		PausesAfter:    {subjectTask, "/pauses-after", fault.Pause, fault.Pause, nil, moveTask},
		LosesRequest:   {subjectTask, "/lost-request", fault.LostRequest, fault.LostRequest, nil, moveTask},
		Delays:         {subjectTask, "/late", fault.Late, fault.Late, nil, moveTask},
		Resends:        {subjectTask, "/resent", fault.Resend, fault.Resend, nil, moveTask},
		Arrives:        {subjectTask, "/arrives", fault.None, fault.None, hasLateCommand, resolveLateCommand},
		NeverArrives:   {subjectTask, "/never-arrives", fault.None, fault.None, hasLateCommand, resolveLateCommand},
		Unsynced:       {subjectTask, "/unsynced", fault.None, fault.Failover, nil, moveAndStopReplication},
		Unsaved:        {subjectTask, "/unsaved", fault.None, fault.Rollback, nil, moveAndStopReplication},
		NodeCrashes:    {subjectTask, "/node-crashes", fault.NodeCrash, fault.NodeCrash, nil, failNode},
		NodeHangs:      {subjectTask, "/node-hangs", fault.NodeHang, fault.NodeHang, nil, failNode},
		NodeRestarts:   {subjectTask, "/node-restarts", fault.NodeRestart, fault.NodeRestart, nil, failNode},
		NodeClockJumps: {subjectTask, "/node-clock-jumps", fault.RedisClock, fault.RedisClock, nil, failNode},

		TimePasses:      {subjectNone, "time", fault.None, fault.None, nil, passTime},
		Slow:            {subjectNone, "slow", fault.Slow, fault.Slow, hasTimerDue, passToTimer},
		Expires:         {subjectNone, "expiry", fault.Expiry, fault.Expiry, nil, passToExpiry},
		FailsOver:       {subjectNone, "failover", fault.Failover, fault.None, canPromote, promoteStandby},
		RollsBack:       {subjectNone, "rollback", fault.Rollback, fault.None, canPromote, promoteStandby},
		Evicts:          {subjectNone, "evict", fault.Evict, fault.Evict, canEvict, evict},
		RedisClockJumps: {subjectNone, "redis-clock-jumps", fault.RedisClock, fault.RedisClock, nil, jumpRedisClock},

		Pauses:     {subjectProcess, "pauses", fault.Pause, fault.Pause, nil, pauseProcess},
		Resumes:    {subjectProcess, "resumes", fault.None, fault.None, nil, resumeProcess},
		Woken:      {subjectProcess, "woken", fault.None, fault.None, hasMessage, deliverOrDropMessage},
		Unwoken:    {subjectProcess, "unwoken", fault.LostWake, fault.LostWake, hasMessage, deliverOrDropMessage},
		ClockJumps: {subjectProcess, "clock-jumps", fault.ClockJump, fault.ClockJump, nil, jumpProcessClock},

		Leaves:            {subjectActor, "leaves", fault.Cancel, fault.Cancel, nil, cancelClient},
		LeavesUnnoticed:   {subjectActor, "leaves-unnoticed", fault.Cancel, fault.Cancel, nil, cancelClient},
		TimesOut:          {subjectActor, "times-out", fault.Timeout, fault.Timeout, hasTimeout, fireTimeout},
		TimesOutUnnoticed: {subjectActor, "times-out-unnoticed", fault.Timeout, fault.Timeout, hasTimeout, fireTimeout},
		GoesOn:            {subjectWaiter, "goes-on", fault.None, fault.None, canEndWait, endUndecidedWait},
		Notices:           {subjectWaiter, "notices", fault.None, fault.None, canEndWait, endUndecidedWait},
	}
}

// The functions of the table. Those of a fault that strikes a command let that happen, too.

func moveTask(x *Execution, k Kind, id int) bool { return x.tasks[id].move(k) }

// moveHalting lets a command take effect of which a replica, or a snapshot, gets nothing, nor of what follows. That is no transition of its
// own if nothing would be lost by it.
func moveAndStopReplication(x *Execution, k Kind, id int) bool {
	sent := x.tasks[id].move(k)
	s := x.Cluster.LaggingServer()
	return sent && s != nil && x.Cluster.WouldLose(s)
}

func killBeforeCommand(x *Execution, _ Kind, id int) bool {
	x.tasks[id].actor.Process.dead = true
	return true
}

func hasLateCommand(x *Execution, _ Kind, id int) bool {
	return id < len(x.tasks) && x.tasks[id].firstLate() >= 0
}

func resolveLateCommand(x *Execution, k Kind, id int) bool {
	if t := x.tasks[id]; k == Arrives {
		t.executeLate()
	} else {
		t.dropLateRest()
	}
	return true
}

// strikeNode lets a fault have happened to a node by the time a task's command comes to it.
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

// passIdly lets time pass until the next timer fires or the next key expires; if nothing is due, for some time.
func passTime(x *Execution, _ Kind, _ int) bool {
	expiry, next := x.Cluster.NextExpiry(), x.timers.earliest()
	if expiry == 0 && next == nil {
		x.idleSteps++
	}
	then := x.now + cmp.Or(expiry, TTL+x.MaxClockDifference()) // by any clock
	if x.IsTimerNext() {
		then = next.dueAt
	}
	x.advanceTo(then)
	return true
}

func hasTimerDue(x *Execution, _ Kind, _ int) bool { return x.timers.earliest() != nil }

func passToTimer(x *Execution, _ Kind, _ int) bool {
	x.advanceTo(x.timers.earliest().dueAt)
	return true
}

func passToExpiry(x *Execution, _ Kind, _ int) bool {
	x.advanceTo(x.now + x.Cluster.NextExpiry())
	return true
}

// canPromote reports whether a server's replica lags, or its snapshot is behind.
func canPromote(x *Execution, k Kind, _ int) bool {
	s := x.Cluster.LaggingServer()
	return s != nil && s.StandbyIsSnapshot == (k == RollsBack)
}

// failOver lets a server's replica, or its snapshot, take its place. Those who listened there connect anew: what they did not hear by then
// is lost, and they are told that they may have missed something.
//
// A failover has two steps. From some command on, the replica gets nothing more: that is where the explorer chooses what will be lost.
// Later the replica takes its master's place, and what came since then is gone, although it was acknowledged. That takes no time: so the
// replica's clock is behind the master's by as long as it takes. A rollback has two steps, too: a snapshot, and a restart with it.
func promoteStandby(x *Execution, k Kind, _ int) bool {
	s := x.Cluster.LaggingServer()
	x.breakConnections(s)
	if k == RollsBack {
		x.advanceTo(x.now + RestartTime)
	}
	x.setState(s, x.Cluster.Promote(s), nil)
	if s.Index > 0 {
		return true // they listen to another one
	}
	for _, l := range x.listeners {
		l.messages = []string{""}
	}
	return true
}

// canEvict reports whether Redis would evict the lock.
func canEvict(x *Execution, _ Kind, _ int) bool {
	k, has := x.Cluster.LockKey(lock.Key)
	return !x.Cluster.OnNodes() && has && k.TTL > 0
}

func evict(x *Execution, _ Kind, _ int) bool {
	s := x.Cluster.Servers()[0]
	x.setState(s, x.Cluster.StateWithout(s, lock.Key), nil)
	return true
}

func jumpRedisClock(x *Execution, _ Kind, _ int) bool {
	x.advanceServerClock(x.Cluster.Servers()[0])
	return true
}

func pauseProcess(x *Execution, _ Kind, id int) bool {
	x.processes[id].paused = true
	return true
}

func resumeProcess(x *Execution, _ Kind, id int) bool {
	x.processes[id].resume()
	return true
}

func hasMessage(x *Execution, _ Kind, id int) bool {
	return x.processes[id].listenerWithMessage() != nil
}

// takeMessage delivers the message that is due for a process, or loses it.
func deliverOrDropMessage(x *Execution, k Kind, id int) bool {
	if p := x.processes[id]; k == Woken {
		p.deliverMessage()
	} else {
		p.listenerWithMessage().takeMessage()
	}
	return true
}

// jumpClock lets the clock of a process jump. Its timers count time that passes, and do not.
func jumpProcessClock(x *Execution, _ Kind, id int) bool {
	p := x.processes[id]
	x.totalClockJump += ClockJumpSize
	p.clockOffset += ClockJumpSize
	p.recordEvent("clock jumps")
	invalidateClockReads(x.tasks)
	return true
}

// goAway lets an actor's client go away.
func cancelClient(x *Execution, k Kind, id int) bool {
	a := x.actors[id]
	a.cancelled, x.endsGoUnnoticed = true, k == LeavesUnnoticed
	a.Process.recordEvent("cancel " + strconv.Itoa(a.indexInProcess))
	a.cancelContext()
	return true
}

func hasTimeout(x *Execution, _ Kind, id int) bool { return x.actors[id].firstTimeout() != nil }

// timeOut lets an actor's timeout come that no time would bring.
func fireTimeout(x *Execution, k Kind, id int) bool {
	a := x.actors[id]
	x.endsGoUnnoticed = k == TimesOutUnnoticed
	a.Process.recordEvent("timeout " + strconv.Itoa(a.indexInProcess))
	a.firstTimeout().fire()
	return true
}

func canEndWait(x *Execution, _ Kind, id int) bool {
	return id < len(x.tasks) && x.tasks[id].undecided && slices.Contains(x.waiters, x.tasks[id])
}

func endUndecidedWait(x *Execution, k Kind, id int) bool {
	x.tasks[id].resolveWait(k)
	return true
}
