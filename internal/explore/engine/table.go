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
const Jump = 15 * time.Second

// Restart is how long a server takes to restart.
const Restart = time.Second

// row is one kind of transition: how a schedule writes it, which fault it is, when it can happen, and what it does.
type row struct {
	of    subject
	word  string      // of a schedule: alone, WHO:word, or, of a task, WHO:COMMANDword; "": WHO:COMMAND
	fault fault.Fault // that it is
	// uses is the fault whose budget it uses up. The first half of a failover, or of a rollback, does so: the second has to come.
	uses fault.Fault
	// can reports whether it can happen to the one with this id; nil: to a task that is about to move, and to everybody else at any time. A
	// schedule that comes from a run of code which did something else may have tasks, messages and timers that this one has not.
	can func(x *Execution, k Kind, id int) bool
	// happen lets it happen. It reports false if that is no transition of its own: a fault of a command that was not sent.
	happen func(x *Execution, k Kind, id int) (own bool)
}

// table has the row of each kind. It is made of constants and functions alone, so that it costs no more than a copy.
func table() [kinds]row {
	return [kinds]row{
		Moves:          {task, "", fault.None, fault.None, nil, moveTask},
		PollsOn:        {task, "", fault.None, fault.None, nil, moveTask},
		LosesReply:     {task, "/lost", fault.LostReply, fault.LostReply, nil, moveTask},
		DiesBefore:     {task, "/dies-before", fault.Crash, fault.Crash, nil, dieBefore},
		DiesAfter:      {task, "/dies-after", fault.Crash, fault.Crash, nil, moveTask},
		PausesAfter:    {task, "/pauses-after", fault.Pause, fault.Pause, nil, moveTask},
		LosesRequest:   {task, "/lost-request", fault.LostRequest, fault.LostRequest, nil, moveTask},
		Delays:         {task, "/late", fault.Late, fault.Late, nil, moveTask},
		Resends:        {task, "/resent", fault.Resend, fault.Resend, nil, moveTask},
		Arrives:        {task, "/arrives", fault.None, fault.None, isLate, arriveLate},
		NeverArrives:   {task, "/never-arrives", fault.None, fault.None, isLate, arriveLate},
		Unsynced:       {task, "/unsynced", fault.None, fault.Failover, nil, moveHalting},
		Unsaved:        {task, "/unsaved", fault.None, fault.Rollback, nil, moveHalting},
		NodeCrashes:    {task, "/node-crashes", fault.NodeCrash, fault.NodeCrash, nil, strikeNode},
		NodeHangs:      {task, "/node-hangs", fault.NodeHang, fault.NodeHang, nil, strikeNode},
		NodeRestarts:   {task, "/node-restarts", fault.NodeRestart, fault.NodeRestart, nil, strikeNode},
		NodeClockJumps: {task, "/node-clock-jumps", fault.RedisClock, fault.RedisClock, nil, strikeNode},

		TimePasses:      {nobody, "time", fault.None, fault.None, nil, passIdly},
		Slow:            {nobody, "slow", fault.Slow, fault.Slow, hasTimerDue, passToTimer},
		Expires:         {nobody, "expiry", fault.Expiry, fault.Expiry, nil, passToExpiry},
		FailsOver:       {nobody, "failover", fault.Failover, fault.None, canPromote, failOver},
		RollsBack:       {nobody, "rollback", fault.Rollback, fault.None, canPromote, failOver},
		Evicts:          {nobody, "evict", fault.Evict, fault.Evict, canEvict, evict},
		RedisClockJumps: {nobody, "redis-clock-jumps", fault.RedisClock, fault.RedisClock, nil, jumpServerClock},

		Pauses:     {process, "pauses", fault.Pause, fault.Pause, nil, pauseProcess},
		Resumes:    {process, "resumes", fault.None, fault.None, nil, resumeProcess},
		Woken:      {process, "woken", fault.None, fault.None, hasMessage, takeMessage},
		Unwoken:    {process, "unwoken", fault.LostWake, fault.LostWake, hasMessage, takeMessage},
		ClockJumps: {process, "clock-jumps", fault.ClockJump, fault.ClockJump, nil, jumpClock},

		Leaves:            {actor, "leaves", fault.Cancel, fault.Cancel, nil, goAway},
		LeavesUnnoticed:   {actor, "leaves-unnoticed", fault.Cancel, fault.Cancel, nil, goAway},
		TimesOut:          {actor, "times-out", fault.Timeout, fault.Timeout, hasTimeout, timeOut},
		TimesOutUnnoticed: {actor, "times-out-unnoticed", fault.Timeout, fault.Timeout, hasTimeout, timeOut},
		GoesOn:            {waiter, "goes-on", fault.None, fault.None, canEndWait, endTornWait},
		Notices:           {waiter, "notices", fault.None, fault.None, canEndWait, endTornWait},
	}
}

// The functions of the table. Those of a fault that strikes a command let that happen, too.

func moveTask(x *Execution, k Kind, id int) bool { return x.tasks[id].move(k) }

// moveHalting lets a command take effect of which a replica, or a snapshot, gets nothing, nor of what follows. That is no transition of its
// own if nothing would be lost by it.
func moveHalting(x *Execution, k Kind, id int) bool {
	sent := x.tasks[id].move(k)
	s := x.Cluster.Lagging()
	return sent && s != nil && x.Cluster.WouldLose(s)
}

func dieBefore(x *Execution, _ Kind, id int) bool {
	x.tasks[id].actor.Process.dead = true
	return true
}

func isLate(x *Execution, _ Kind, id int) bool { return id < len(x.tasks) && x.tasks[id].oldest() >= 0 }

func arriveLate(x *Execution, k Kind, id int) bool {
	if t := x.tasks[id]; k == Arrives {
		t.arrive()
	} else {
		t.breakOff()
	}
	return true
}

// strikeNode lets a fault have happened to a node by the time a task's command comes to it.
func strikeNode(x *Execution, k Kind, id int) bool {
	t := x.tasks[id]
	switch s := x.Cluster.Servers()[t.to]; k {
	case NodeCrashes:
		s.Health = simredis.Crashed
		x.reset(s)
	case NodeHangs:
		s.Health = simredis.Hung
	case NodeRestarts:
		x.reset(s)
		x.becomes(s, x.Cluster.Empty(), nil)
	default:
		x.stepServerClock(s)
	}
	return t.cut || t.move(Moves)
}

// passIdly lets time pass until the next timer fires or the next key expires; if nothing is due, for some time.
func passIdly(x *Execution, _ Kind, _ int) bool {
	expiry, next := x.Cluster.NextExpiry(), x.timers.next()
	if expiry == 0 && next == nil {
		x.idle++
	}
	then := x.now + cmp.Or(expiry, TTL+x.Ahead()) // by any clock
	if x.TimerNext() {
		then = next.at
	}
	x.pass(then)
	return true
}

func hasTimerDue(x *Execution, _ Kind, _ int) bool { return x.timers.next() != nil }

func passToTimer(x *Execution, _ Kind, _ int) bool {
	x.pass(x.timers.next().at)
	return true
}

func passToExpiry(x *Execution, _ Kind, _ int) bool {
	x.pass(x.now + x.Cluster.NextExpiry())
	return true
}

// canPromote reports whether a server's replica lags, or its snapshot is behind.
func canPromote(x *Execution, k Kind, _ int) bool {
	s := x.Cluster.Lagging()
	return s != nil && s.Saved == (k == RollsBack)
}

// failOver lets a server's replica, or its snapshot, take its place. Those who listened there connect anew: what they did not hear by then
// is lost, and they are told that they may have missed something.
//
// A failover has two steps. From some command on, the replica gets nothing more: that is where the explorer chooses what will be lost.
// Later the replica takes its master's place, and what came since then is gone, although it was acknowledged. That takes no time: so the
// replica's clock is behind the master's by as long as it takes. A rollback has two steps, too: a snapshot, and a restart with it.
func failOver(x *Execution, k Kind, _ int) bool {
	s := x.Cluster.Lagging()
	x.reset(s)
	if k == RollsBack {
		x.pass(x.now + Restart)
	}
	x.becomes(s, x.Cluster.Promote(s), nil)
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
	k, has := x.Cluster.Locked(lock.Key)
	return !x.Cluster.OnNodes() && has && k.TTL > 0
}

func evict(x *Execution, _ Kind, _ int) bool {
	s := x.Cluster.Servers()[0]
	x.becomes(s, x.Cluster.Without(s, lock.Key), nil)
	return true
}

func jumpServerClock(x *Execution, _ Kind, _ int) bool {
	x.stepServerClock(x.Cluster.Servers()[0])
	return true
}

func pauseProcess(x *Execution, _ Kind, id int) bool {
	x.processes[id].paused = true
	return true
}

func resumeProcess(x *Execution, _ Kind, id int) bool {
	x.processes[id].continues()
	return true
}

func hasMessage(x *Execution, _ Kind, id int) bool { return x.processes[id].due() != nil }

// takeMessage delivers the message that is due for a process, or loses it.
func takeMessage(x *Execution, k Kind, id int) bool {
	if p := x.processes[id]; k == Woken {
		p.notify()
	} else {
		p.due().take()
	}
	return true
}

// jumpClock lets the clock of a process jump. Its timers count time that passes, and do not.
func jumpClock(x *Execution, _ Kind, id int) bool {
	p := x.processes[id]
	x.jumped += Jump
	p.ahead += Jump
	p.note("clock jumps")
	ignoreClock(x.tasks)
	return true
}

// goAway lets an actor's client go away.
func goAway(x *Execution, k Kind, id int) bool {
	a := x.actors[id]
	a.cancelled, x.unnoticed = true, k == LeavesUnnoticed
	a.Process.note("cancel " + strconv.Itoa(a.inside))
	a.leave()
	return true
}

func hasTimeout(x *Execution, _ Kind, id int) bool { return x.actors[id].itsTimeout() != nil }

// timeOut lets an actor's timeout come that no time would bring.
func timeOut(x *Execution, k Kind, id int) bool {
	a := x.actors[id]
	x.unnoticed = k == TimesOutUnnoticed
	a.Process.note("timeout " + strconv.Itoa(a.inside))
	a.itsTimeout().fire()
	return true
}

func canEndWait(x *Execution, _ Kind, id int) bool {
	return id < len(x.tasks) && x.tasks[id].torn && slices.Contains(x.waiters, x.tasks[id])
}

func endTornWait(x *Execution, k Kind, id int) bool {
	x.tasks[id].resolveWait(k)
	return true
}
