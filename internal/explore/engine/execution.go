// Package engine runs one schedule of a Scenario. An Execution is the run of that schedule so far.
//
// Actors run the code under test, in processes, on a simulated Redis. The code waits in only two places: before a command, in Network,
// and in Clock.Wait. There its task yields control, so that at most one task runs at a time. When all of them wait, Transitions lists
// what can happen next: a command is answered, a message arrives, time passes, or a fault happens. Apply makes one of these happen, and
// then runs every task that can go on without another command. Fingerprint returns a hash of the state.
//
// The code is deterministic: the same transitions lead to the same state. So a list of transitions is a schedule that can be replayed.
//
// Begin with Execution, Task and the table of transitions in kind_table.go.
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

// Judge observes every change of a server's state, including those that no actor sees, and adds its own state to the state hash.
type Judge interface {
	// OnChange is called after the state of a server has changed from before. by is the actor whose command made the change; nil: time or
	// a fault made it.
	OnChange(server *simredis.Server, before *simredis.State, by *Actor)
	// RecordOrders is called when a command changes a server's state from before to next. It returns next without the ledger entries that no
	// command will read.
	RecordOrders(before, next *simredis.State) (*simredis.State, error)
	// AppendState, AppendActor and AppendServer append the judge's own state to the data of a state hash: what it knows of all actors, of one
	// actor, and of one server. An actor is written as its place in o.
	AppendState(b []byte, o Order) []byte
	AppendActor(b []byte, actor int) []byte
	AppendServer(b []byte, server int, o Order) []byte
}

// Recorder receives the commands and replies of a schedule that is shown to a reader.
type Recorder interface {
	// OnSend is called when commands are sent to the server with this index.
	OnSend(server int, commands []redis.Cmder)
	// OnReply is called with a server's reply, as RESP bytes, and the number of commands that it answers.
	OnReply(reply []byte, commands int)
	// OnPipelineRest is called with the commands that follow the answered one in its pipeline. If arrives is false, they are lost with
	// the connection.
	OnPipelineRest(rest []redis.Cmder, arrives bool)
}

// Setup configures an execution.
type Setup struct {
	Scenario       Scenario          // who does what, and what may go wrong
	Cluster        *simredis.Cluster // servers in their initial state
	Hasher         *Hasher           // hasher of the state and the histories
	Pool           *Pool             // source of goroutines and tasks, reused by successive executions
	FirstActorName rune              // name of the first actor: 'A', or a letter that no earlier actor had
	ChecksCallers  bool              // verify for each call that a known goroutine makes it; this is slow
	Now            time.Duration     // virtual time at the start
	Stop           func() error      // called before each step; an error stops the execution; nil: not called
	DisabledReductions
}

// DisabledReductions says which reductions of the search are off, so that tests can compare results with and without them.
type DisabledReductions struct {
	EveryStart    bool // identical actors may start in any order, and are not interchangeable
	EverySymmetry bool // neither actors nor nodes are interchangeable, and the order of the nodes' replies counts
}

// Execution is the run of one schedule: the steps taken so far, and the state that they led to.
type Execution struct {
	Setup

	processes []*Process   // all processes, by index
	actors    []*Actor     // all actors, by index
	schedule  Schedule     // steps taken so far
	budget    fault.Budget // faults that may still happen

	Judge    Judge    // has to be set before the first transition
	Recorder Recorder // nil: nobody reads the schedule
	Journal  *Journal // nil: nothing is recorded

	tasks      []*Task              // all tasks ever started, by id
	current    atomic.Pointer[Task] // task that runs now; nil: none
	turnCount  atomic.Uint64        // number of times that a task was resumed or killed
	readyTasks []*Task              // tasks that run next, in this order
	waiters    []*Task              // tasks in Clock.Wait
	roundCount int                  // rounds of all tasks so far

	now             time.Duration // virtual time since the start
	timers          timers        // timers that the passing of time fires
	timeoutTimers   timers        // timers of Forever or longer: no passing of time fires them, but the fault timeout may
	totalClockJump  time.Duration // sum of the clock jumps of all processes
	idleSteps       int           // steps in which time passed and nothing became due, since the last change of a server's state
	endsGoUnnoticed bool          // during one step, tasks do not notice that their contexts have ended

	listeners    []*listener   // subscriptions of all processes
	lateCommands []sentCommand // commands that take effect later, although their senders got an error

	Enabled   EnabledTransitions   // result of the last call of Transitions
	Faulted   bool                 // the schedule contains a fault
	kindTable *[kindCount]kindSpec // the Pool's copy of the table of transitions

	checksPolls bool // true: CheckPolls repeats attempts, and their commands are recorded in round.queries

	mu      sync.Mutex // guards failure: goroutines that the engine does not know may call Fail at any time
	failure error      // first error that Fail was called with; nil: none
}

// New creates an execution. Every actor needs a SetBody before the first transition, and starts when the schedule says so.
func New(setup Setup) *Execution {
	s := setup.Scenario
	x := &Execution{Setup: setup, budget: s.Faults, now: setup.Now, tasks: make([]*Task, 0, 16), kindTable: setup.Pool.kindTable()}
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

// SetBody sets the function that an actor runs once it starts. It has to be called for all actors, in their order, before the first
// transition.
func (x *Execution) SetBody(a *Actor, f func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	a.cancelContext = cancel
	a.mainTask = a.spawn("", func() {
		a.err = f(ctx)
		a.finished = true
	})
	x.readyTasks = x.readyTasks[:0] // the actor starts when the schedule says so, not when the execution settles
}

// Close ends all tasks that still run. The execution must not be used after that.
func (x *Execution) Close() {
	for _, p := range x.processes {
		p.dead = true
	}
	x.killDeadTasks()
	for _, a := range x.actors {
		a.cancelContext()
	}
	x.Pool.tasks = append(x.Pool.tasks, x.tasks...)
	x.tasks = nil
}

// killDeadTasks ends the tasks, timers and subscriptions of dead processes. Commands that their pipelines have sent remain under way.
func (x *Execution) killDeadTasks() {
	for _, t := range x.tasks {
		if t.actor.Process.dead && !t.Ended() {
			x.lateCommands = append(x.lateCommands, markDroppable(t.pipelineRest)...)
			t.pipelineRest = nil
			t.kill()
		}
	}
	x.dropTimers(func(t *timer) bool { return t.actor.Dead() })
	x.waiters = slices.DeleteFunc(x.waiters, (*Task).Ended)
	x.listeners = slices.DeleteFunc(x.listeners, func(l *listener) bool { return l.actor.Dead() })
}

// Fail stops the exploration with an error, which Err then returns. Later errors are ignored.
func (x *Execution) Fail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.failure == nil { // the first error is the cause; later ones are its consequences
		x.failure = err
	}
}

// Schedule returns the transitions so far.
func (x *Execution) Schedule() Schedule { return x.schedule }

// Err returns the error that stopped the exploration; nil: none.
func (x *Execution) Err() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.failure
}

// Actors returns all actors, by index.
func (x *Execution) Actors() []*Actor { return x.actors }

// Processes returns all processes, by index.
func (x *Execution) Processes() []*Process { return x.processes }

// Now returns the virtual time since the start.
func (x *Execution) Now() time.Duration { return x.now }

// setState changes the state of a server, and calls the judge. by is the actor whose command makes the change; nil: time or a fault does.
func (x *Execution) setState(s *simredis.Server, next *simredis.State, by *Actor) {
	before := s.State
	if x.Cluster.SetState(s, next) {
		x.idleSteps = 0
	}
	x.Judge.OnChange(s, before, by)
}
