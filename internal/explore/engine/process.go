package engine

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

// Process is a replica of the shop. Its actors share one lock, and stop, resume and die together.
type Process struct {
	Name        string // replica1, replica2, …; if each actor has a process, the actor's name
	x           *Execution
	actors      []*Actor      // actors of the process, sorted by name
	clockOffset time.Duration // lead of the process's clock over the virtual time
	dead        bool          // true from a crash on
	paused      bool          // true between a pause and the resume

	sharedMemory reflect.Value // value that the process's tasks share; invalid: unknown
	processHistory
	eventCount    int // number of events in the history
	lastReplyStep int // index of the step that brought the last reply
}

// processHistory is a hash of all events that a process has seen. The code is deterministic, so the hash stands for the process's memory.
type processHistory struct {
	knownActors []byte        // actors named in its history, in the order in which the process met them
	hash        Fingerprint   // history hash: all events but those in nodeHashes
	nodeHashes  []Fingerprint // one history per server, for the replies to tasks that were started to query a node
	clockReads  clockReads
}

// clockReads counts the readings of a process's clock, and keeps the last time read.
type clockReads struct {
	count    int           // number of readings
	lastTime time.Duration // virtual time of the last reading
}

// newProcess returns the process with this 0-based index.
func newProcess(i int, x *Execution) *Process {
	setup := &x.Setup
	p := &Process{
		x:              x,
		Name:           fmt.Sprint("replica", int(setup.FirstActorName-'A')+i+1),
		clockOffset:    setup.Scenario.Skew * [...]time.Duration{-1, 1, 0}[i%3],
		processHistory: processHistory{nodeHashes: make([]Fingerprint, len(setup.Cluster.Servers()))},
	}
	if setup.Scenario.HasProcessPerActor() {
		p.Name = setup.actorName(i)
		p.knownActors = []byte{byte(i)} //nolint:gosec // fits: few values
	}
	return p
}

// hasBegun reports whether an actor of p has started.
func (p *Process) hasBegun() bool {
	return slices.ContainsFunc(p.actors, func(a *Actor) bool { return a.started })
}

// hasEnded reports whether all actors of p have finished.
func (p *Process) hasEnded() bool {
	return !slices.ContainsFunc(p.actors, func(a *Actor) bool { return !a.finished })
}

// IsOver reports whether all sales of a process have ended, and it is neither dead nor paused.
func (p *Process) IsOver() bool { return !p.dead && !p.paused && p.hasBegun() && p.hasEnded() }

// maxSteps is the largest number of commands that RunOffSchedule, and each attempt in CheckPolls, executes.
const maxSteps = 100

// RunOffSchedule runs f in a's process, and then every command of the process until all its tasks wait, without time passing. The schedule
// gets no transition for this.
func (x *Execution) RunOffSchedule(a *Actor, f func()) {
	a.spawn(defaultRole, f)
	x.settle()
	x.runCommands(func(t *Task) bool { return t.actor.Process == a.Process })
}

// runCommands lets the tasks that match send commands until all of them wait for something else.
func (x *Execution) runCommands(matches func(*Task) bool) {
	for range maxSteps {
		i := slices.IndexFunc(x.tasks, func(t *Task) bool { return matches(t) && t.isLive() && t.hasAction() })
		if i < 0 {
			return
		}
		x.tasks[i].move(Moves)
		x.settle()
	}
}

// Title returns the process's name for a sentence: the name of its only actor, or its own with those of its actors, as in replica1 (A, C).
func (p *Process) Title() string {
	if len(p.actors) == 1 {
		return p.actors[0].Name
	}
	var names []string
	for _, a := range p.actors {
		names = append(names, a.Name)
	}
	return fmt.Sprintf("%s (%s)", p.Name, strings.Join(names, ", "))
}

// OwnsKey reports whether one of the key's values is the owner lock.Owner(p.Name), with or without a suffix.
func (p *Process) OwnsKey(k simredis.Key) bool {
	owner := lock.Owner(p.Name)
	return slices.ContainsFunc(k.Values, func(value string) bool { return value == owner || strings.HasPrefix(value, owner+":") })
}

// Actor is one buyer. It makes one sale, or several one after the other.
type Actor struct {
	Index          int      // 0-based position among all actors
	Name           string   // one letter, from Setup.FirstActorName on
	Process        *Process // process that the actor runs in
	indexInProcess int      // 0-based position among the actors of the process
	Sale           string   // id of the current sale: the actor's name, followed by a number from the second sale on

	triesOnce  bool  // true: the actor tries once for the lock, and does not wait
	mainTask   *Task // task that runs the actor's body
	taskCount  int   // tasks started
	saleCount  int   // sales begun
	labelCount int   // tasks started, without those of rounds that were forgotten

	cancelContext context.CancelFunc // cancels the context of the body
	started       bool               // the main task runs, or has run
	finished      bool               // all sales of the actor have ended
	cancelled     bool               // the actor's client has gone away
	err           error              // error that ended the sales; nil: success, or not finished
}

// TriesOnce reports whether the actor tries once for the lock, and does not wait.
func (a *Actor) TriesOnce() bool { return a.triesOnce }

// BeginSale begins the actor's next sale.
func (a *Actor) BeginSale() {
	a.saleCount++
	a.Sale = a.Name
	if a.saleCount > 1 {
		a.Sale = fmt.Sprint(a.Name, a.saleCount)
	}
}

// Started reports whether the actor has started.
func (a *Actor) Started() bool { return a.started }

// canLeave reports whether the actor's client may go away.
func (a *Actor) canLeave() bool { return a.started && !a.finished && !a.cancelled }

// Finished reports whether the actor's sales have ended; the result is Err.
func (a *Actor) Finished() bool { return a.finished }

// Err returns the error that ended the actor's sales; nil: success, or not finished.
func (a *Actor) Err() error { return a.err }

// Dead reports whether the actor's process is dead.
func (a *Actor) Dead() bool { return a.Process.dead }

// Paused reports whether the actor's process is paused.
func (a *Actor) Paused() bool { return a.Process.paused }
