package engine

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
)

// errDead is what a task gets for all it asks when its process has died or its schedule is over, so that it ends by itself.
var errDead = fmt.Errorf("%w: the process is dead", lock.ErrUnavailable)

// Task is a goroutine of the code under test. It hands its turn back where it would wait: before a command, and in Clock.Wait.
type Task struct {
	coroutine *Coroutine // the same for good: others may ask at any time for its goroutine
	taskState
}

// Ended reports whether the task has ended.
func (t *Task) Ended() bool { return t.coroutine.Ended() }

// job is what a task is in one execution.
type taskState struct {
	x       *Execution
	id      int
	role    string // by which it is called, beside its actor; "": it is the one that the actor starts with
	ordinal int    // that bear this name, with it
	label   string // the same, but for rounds that are forgotten
	actor   *Actor

	parent           *Task // that started it
	parentRound      int   // in this of its rounds
	detached         bool  // it has paused by itself: what it does since is no part of that round
	startedByMessage bool  // a message started it, or started its parent: it works for its process, and for no sale

	// Before a command:
	pending      []redis.Cmder
	server       int           // index of the server that it is for
	expiredSends int           // so many, the last of all, had a context that had ended
	replyUnread  bool          // its reply is there, and its process is paused
	faultKind    Kind          // what happens to that command
	pipelineRest []sentCommand // of a pipeline of which a part has taken effect: what is under way
	connBroken   bool          // the connection for that is broken

	awaitsReply bool // it waits for a node that does not answer
	namedByNode bool // a node, by which it is called

	subscribing bool // once the schedule lets it

	// In Wait:
	waiting      bool
	waitCtx      context.Context //nolint:containedctx // of the Wait it is in
	waitCh       <-chan struct{}
	waitErr      error  // what Wait is to return
	received     bool   // what Wait received, or that the channel is closed, is here
	undecided    bool   // the schedule decides how the Wait ends, and when
	endUnnoticed bool   // its context has ended, and it does not know yet
	eventsAtEnd  int    // how much had happened to its process when the context ended
	lastTimer    *timer // the last thing it asked of the clock, if that was a timer
	waitTimer    *timer // what ends the Wait it is in, as far as that is the clock

	round  round // since it last woke up
	poller poller

	callStack []uintptr // where it gave its turn back, if somebody wants to read that
}

// live reports whether t could run: it has not ended, and its process is neither dead nor paused.
func (t *Task) isLive() bool { return !t.Ended() && !t.actor.Dead() && !t.actor.Paused() }

// acts reports whether t does something next that the schedule decides when: it sends a command, or subscribes.
func (t *Task) hasAction() bool { return t.pending != nil || t.subscribing }

// asleep reports whether t is in a pause of a moment, as between two attempts.
func (t *Task) isInBriefSleep() bool {
	return t.waiting && t.waitTimer != nil && t.waitTimer.isBrief && !t.waitTimer.stopped
}

func (t *Task) resume() {
	t.x.turnCount.Add(1)
	t.x.current.Store(t)
	t.coroutine.Resume()
	t.x.current.Store(nil)
}

func (t *Task) kill() {
	t.x.turnCount.Add(1)
	t.x.current.Store(t)
	t.coroutine.Kill()
	t.x.current.Store(nil)
}

// next takes the task that is to run next, nil if there is none.
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

// sender returns the first task of p that is about to send a command.
func (p *Process) firstSender() *Task {
	for _, t := range p.x.tasks {
		if t.actor.Process == p && t.pending != nil && !t.Ended() {
			return t
		}
	}
	return nil
}

// helped reports whether somebody works for t's round.
func (t *Task) hasHelper() bool {
	return slices.ContainsFunc(t.x.tasks, func(other *Task) bool {
		return !other.Ended() && other.parent == t && other.parentRound == t.round.number
	})
}

// spawn makes a task of a's, ready to run.
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

// park hands the turn back until the task gets it again. It fails when the task is to end instead.
func park(t *Task) error {
	if t.coroutine.Park() != nil {
		return errDead
	}
	return nil
}

// settle lets everything run that can go on without a command, in a fixed order, until all wait.
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
