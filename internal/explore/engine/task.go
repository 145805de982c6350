package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
)

// errDead is returned from every call that a task makes once its process has died or its schedule is over, so that the task unwinds and
// ends.
var errDead = fmt.Errorf("%w: the process is dead", lock.ErrUnavailable)

// Task is a goroutine of the code under test. It yields control where the code would wait: before a command, and in Clock.Wait.
type Task struct {
	coroutine *Coroutine // stays the same for the task's whole life, as other goroutines read its goroutine id at any time
	taskState
}

// Ended reports whether the task has ended.
func (t *Task) Ended() bool { return t.coroutine.Ended() }

// taskState is the state of a task in one execution. A Pool reuses the Task for later executions with a new state.
type taskState struct {
	x       *Execution
	id      int    // index in Execution.tasks
	role    string // name within the actor, such as renewal; "": the actor's main task
	ordinal int    // 1 for the first live task of this role, 2 for the next
	label   string // identifies the task in hashes of the history; unlike id, it does not count tasks of rounds that were forgotten
	actor   *Actor // actor that the task works for

	parent           *Task // task that started it by Clock.Go; nil: none
	parentRound      int   // number of the parent's round that started it
	detached         bool  // true from its first pause on: its later actions do not belong to the parent's round
	startedByMessage bool  // a message started it or its parent, so it works for the whole process and not for one sale

	// The command or pipeline that the task is about to send, and what the schedule does with it.
	pending      []redis.Cmder // commands about to be sent; nil: none
	server       int           // index of the server that receives the command
	expiredSends int           // consecutive commands whose context had ended before they were sent
	replyUnread  bool          // the reply has arrived, and the process, which is paused, has not read it
	faultKind    Kind          // fault that strikes the pending command; Moves: none
	pipelineRest []sentCommand // commands of a pipeline that have not taken effect, once the first have
	connBroken   bool          // the connection that carries pipelineRest is broken

	awaitsReply bool // the task waits for a node that does not answer
	namedByNode bool // role is the name of the first node that the task sent a command to

	subscribing bool // the task is about to subscribe, and waits until the schedule lets it

	// The Clock.Wait that the task is in.
	waiting      bool            // the task is in a Wait
	waitCtx      context.Context //nolint:containedctx // context of the Wait
	waitCh       <-chan struct{} // channel of the Wait; nil: only the end of the context is awaited
	waitErr      error           // result of the Wait
	received     bool            // a value was received from waitCh, or waitCh is closed
	undecided    bool            // the Wait can end in two ways, and the schedule has to choose
	endUnnoticed bool            // waitCtx has ended, and the schedule lets the task notice that later
	eventsAtEnd  int             // the process's eventCount when waitCtx ended
	lastTimer    *timer          // timer that its last call to the clock has set; nil: that call set none
	waitTimer    *timer          // timer that ends the Wait; nil: no timer does

	round  round  // actions since it last woke up
	poller poller // its attempts at the lock before this round

	callStack []uintptr // call stack at which it yielded control; recorded only if there is a Recorder
}

// isLive reports whether t could run: it has not ended, and its process is neither dead nor paused.
func (t *Task) isLive() bool { return !t.Ended() && !t.actor.Dead() && !t.actor.Paused() }

// hasAction reports whether t's next action is one that the schedule has to release: a command or a subscription.
func (t *Task) hasAction() bool { return t.pending != nil || t.subscribing }

// isInBriefSleep reports whether t sleeps for at most a moment, as it does between two attempts at a lock.
func (t *Task) isInBriefSleep() bool {
	return t.waiting && t.waitTimer != nil && t.waitTimer.isBrief && !t.waitTimer.stopped
}

// resume lets t run until it yields control.
func (t *Task) resume() {
	t.x.turnCount.Add(1)
	t.x.current.Store(t)
	t.coroutine.Resume()
	t.x.current.Store(nil)
}

// kill ends t: its functions return.
func (t *Task) kill() {
	t.x.turnCount.Add(1)
	t.x.current.Store(t)
	t.coroutine.Kill()
	t.x.current.Store(nil)
}

// nextTask removes and returns the task that runs next; nil if all wait.
func (x *Execution) nextTask() *Task {
	if len(x.readyTasks) > 0 {
		t := x.readyTasks[0]
		x.readyTasks = slices.Delete(x.readyTasks, 0, 1)
		return t
	}
	if i := slices.IndexFunc(x.waiters, (*Task).tryEndWait); i >= 0 {
		t := x.waiters[i]
		x.waiters = slices.Delete(x.waiters, i, i+1)
		return t
	}
	return nil
}

// firstSender returns the first task of p that is about to send a command; nil if there is none.
func (p *Process) firstSender() *Task {
	for _, t := range p.x.tasks {
		if t.actor.Process == p && t.pending != nil && !t.Ended() {
			return t
		}
	}
	return nil
}

// hasHelper reports whether a task that t started in its current round still runs.
func (t *Task) hasHelper() bool {
	return slices.ContainsFunc(t.x.tasks, func(other *Task) bool {
		return !other.Ended() && other.parent == t && other.parentRound == t.round.number
	})
}

// spawn starts a task of a, which runs when the execution settles.
func (a *Actor) spawn(name string, f func()) *Task {
	x := a.Process.x
	t := x.Pool.takeTask()
	t.taskState = taskState{x: x, id: len(x.tasks), label: strconv.Itoa(a.indexInProcess) + "." + strconv.Itoa(a.labelCount), actor: a}
	if a.taskCount > 0 {
		t.setRole(tokenName(name))
	}
	a.taskCount++
	a.labelCount++
	t.beginRound()
	t.coroutine.Start(x.Pool, f, func(value any) { t.panicked(value) })
	x.tasks = append(x.tasks, t)
	x.readyTasks = append(x.readyTasks, t)
	return t
}

// park yields control until the task is resumed. It returns errDead if the task has to end instead.
func park(t *Task) error {
	if t.coroutine.Park() != nil {
		return errDead
	}
	return nil
}

// settle runs tasks and due timers, in a fixed order, until every task waits for a command or for the clock.
func (x *Execution) settle() {
	for {
		for t := x.nextTask(); t != nil; t = x.nextTask() {
			if !t.Ended() && !t.actor.Dead() {
				t.resume()
			}
		}
		due := x.timers.earliest()
		if due == nil || due.dueAt > x.now {
			return
		}
		due.actor.Process.recordEvent("timer")
		due.fire()
	}
}
