// Package engine runs one schedule of a Scenario: an Execution is that schedule as it unfolds.
//
// Actors run the code under test, in processes, on a simulated Redis. The code waits at two places alone: before a command, in Network, and
// in Clock.Wait. There its task hands the turn back, so at most one task runs at any time, and when all of them wait, Transitions says what
// can happen next: a command is answered, a message arrives, time passes, or a fault happens. Apply lets one of these happen, and then runs
// every task that can go on without another command. Fingerprint tells states apart.
//
// The same code with the same transitions does the same, so a list of transitions is a schedule that can be run again.
package engine

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore/fault"
	"lockstep/internal/explore/simredis"
)

// Judge sees what no actor can see.
type Judge interface {
	// Changed is called when a server holds something else than before. It was done by the actor, or, if that is nil, by time or a fault.
	Changed(server *simredis.Server, before *simredis.State, by *Actor)
	// Book is called when a command makes a server hold next. It returns that without what nobody will ask for.
	RecordOrders(before, next *simredis.State) (*simredis.State, error)
	// AppendState, AppendActor and AppendServer write what the judge knows beside that, for what tells states apart: of all actors, of
	// one, and of a server.
	AppendState(b []byte, o Order) []byte
	AppendActor(b []byte, actor int) []byte
	AppendServer(b []byte, server int, o Order) []byte
}

// Recorder sees the commands and replies of a schedule that somebody wants to read.
type Recorder interface {
	Sending(server int, commands []redis.Cmder)
	Replied(reply []byte, commands int)
	// Follow is told what follows in the pipeline of the command that was replied to, and whether it can still arrive.
	PipelineContinues(rest []redis.Cmder, arrives bool)
}

// Setup is what an execution begins with.
type Setup struct {
	Scenario       Scenario
	Cluster        *simredis.Cluster
	Hasher         *Hasher
	Pool           *Pool
	FirstActorName rune // of the actors: A, or one that nobody has had
	ChecksCallers  bool // each command is looked at: whether a goroutine sends it that the explorer knows. That takes longer than all the rest
	Now            time.Duration
	Stop           func() error // why nothing more is to happen, asked before each step; nil: it is never stopped
	Cuts
}

// Cuts say what is not taken for the same.
type Cuts struct {
	EveryStart    bool // actors that start alike may start in any order, and are not interchangeable
	EverySymmetry bool // nothing counts as the same: not such actors, nor which node is which, nor in which order nodes answer
}

// Execution is one schedule so far: what can happen next, and what happens.
type Execution struct {
	Setup

	processes []*Process
	actors    []*Actor
	schedule  Schedule     // the steps taken so far
	budget    fault.Budget // of the scenario's

	Judge    Judge
	Recorder Recorder // nil unless somebody wants to read it
	Journal  *Journal // nil unless somebody wants to know where the code differs

	tasks      []*Task              // all there ever were
	current    atomic.Pointer[Task] // the one that runs
	turnCount  atomic.Uint64        // that there were
	readyTasks []*Task              // that run next
	waiters    []*Task              // in Clock.Wait
	roundCount int                  // of all tasks

	now             time.Duration // virtual
	timers          timers
	timeoutTimers   timers        // that no time would bring, but a fault may
	totalClockJump  time.Duration // clocks, all of them together
	idleSteps       int           // how often time passed with nothing due, since Redis changed
	endsGoUnnoticed bool          // contexts that end now are noticed later

	listeners    []*listener
	lateCommands []sentCommand // commands whose senders were told an error, and that have not taken effect yet

	Options   Options // that were listed last
	Faulted   bool    // a fault has happened
	kindTable *[kindCount]kindSpec

	checksPolls bool // CheckPolls has attempts made: what they ask is taken down

	mu      sync.Mutex // code that acts behind our back may do so at any time
	failure error
}

// New begins a schedule. Its actors do nothing before Run says what, and they start when the schedule says so.
func New(setup Setup) *Execution {
	s := setup.Scenario
	x := &Execution{}
	x.Setup, x.budget, x.now, x.tasks = setup, s.Faults, setup.Now, make([]*Task, 0, 16)
	x.kindTable = setup.Pool.kindTable()
	for i := range s.Processes() {
		x.processes = append(x.processes, newProcess(i, x))
	}
	for i := range s.Actors {
		p := x.processes[i%len(x.processes)]
		a := &Actor{Index: i, Name: x.actorName(i), Process: p, indexInProcess: len(p.actors), triesOnce: i < s.Try, cancelContext: func() {}}
		a.Sale = a.Name
		p.actors = append(p.actors, a)
		x.actors = append(x.actors, a)
	}
	return x
}

// Run says what an actor does, once it starts. All actors have to be told before the first transition, in their order.
func (x *Execution) SetBody(a *Actor, f func(context.Context) error) {
	ctx, leave := context.WithCancel(context.Background())
	a.cancelContext = leave
	a.mainTask = a.spawn("", func() {
		a.err = f(ctx)
		a.finished = true
	})
	x.readyTasks = x.readyTasks[:0] // it starts when the schedule says so
}

// Close ends what still runs. Nothing can be asked of it after that.
func (x *Execution) Close() {
	for _, p := range x.processes {
		p.dead = true
	}
	x.killDeadTasks()
	for _, a := range x.actors {
		a.cancelContext()
	}
	x.Pool.tasks, x.tasks = append(x.Pool.tasks, x.tasks...), nil
}

// bury ends the tasks of dead processes.
func (x *Execution) killDeadTasks() {
	for _, t := range x.tasks {
		if t.actor.Process.dead && !t.Ended() {
			x.lateCommands = append(x.lateCommands, markLosable(t.pipelineRest)...)
			t.pipelineRest = nil
			t.kill()
		}
	}
	x.dropTimers(func(t *timer) bool { return t.actor.Dead() })
	x.waiters = slices.DeleteFunc(x.waiters, (*Task).Ended)
	x.listeners = slices.DeleteFunc(x.listeners, func(l *listener) bool { return l.actor.Dead() })
}

// Fail ends the exploration for a reason that is no verdict: Err.
func (x *Execution) Fail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failure == nil { // what follows from the first is no news
		x.failure = err
	}
}

// Taken returns the transitions so far.
func (x *Execution) Schedule() Schedule { return x.schedule }

// Err returns why the exploration cannot go on.
func (x *Execution) Err() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.failure
}

// Actors returns all of them, by their index.
func (x *Execution) Actors() []*Actor { return x.actors }

// Processes returns all of them.
func (x *Execution) Processes() []*Process { return x.processes }

// Now returns the time since the start.
func (x *Execution) Now() time.Duration { return x.now }

// becomes changes what a server holds. It was done by an actor, or, if that is nil, by time or a fault.
func (x *Execution) setState(s *simredis.Server, next *simredis.State, by *Actor) {
	before := s.State
	if x.Cluster.SetState(s, next) {
		x.idleSteps = 0
	}
	x.Judge.Changed(s, before, by)
}
