package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

// Process is a replica of the shop. Its actors share a lock, and its fate.
type Process struct {
	Name        string
	x           *Execution
	actors      []*Actor
	clockOffset time.Duration // how far its clock is ahead of the execution's
	dead        bool
	paused      bool

	processHistory
	eventCount    int // of what happened
	lastReplyStep int // the step in which the last reply came
}

// memory stands for all that a process remembers.
type processHistory struct {
	knownActors []byte        // the actors that its past names, by their indices: it is numbered in their order
	hash        Fingerprint   // of all that ever happened to it. Its code is deterministic, so this stands for its whole state.
	nodeHashes  []Fingerprint // of its history with each server, for tasks that were started to ask it
	clockReads  clockReads
}

// looks are how often a process has looked at the clock, and the last time that it saw.
type clockReads struct {
	count    int
	lastTime time.Duration
}

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
		p.knownActors = []byte{byte(i)} //nolint:gosec // there are few
	}
	return p
}

func (p *Process) hasBegun() bool {
	return slices.ContainsFunc(p.actors, func(a *Actor) bool { return a.started })
}

func (p *Process) hasEnded() bool {
	return !slices.ContainsFunc(p.actors, func(a *Actor) bool { return !a.finished })
}

// IsOver reports whether a process lives and runs, and all its sales have ended.
func (p *Process) IsOver() bool { return !p.dead && !p.paused && p.hasBegun() && p.hasEnded() }

// maxSteps is how many commands a process may send to finish.
const maxSteps = 100

// Finish lets a's process do something, and then all that it can without time, behind everybody's back: no schedule can say so.
func (x *Execution) RunOffSchedule(a *Actor, f func()) {
	a.spawn(defaultRole, f)
	x.settle()
	x.runCommands(func(t *Task) bool { return t.actor.Process == a.Process })
}

// finish lets such tasks send commands until they wait for something else.
func (x *Execution) runCommands(which func(*Task) bool) {
	for range maxSteps {
		i := slices.IndexFunc(x.tasks, func(t *Task) bool { return which(t) && t.isLive() && t.hasAction() })
		if i < 0 {
			return
		}
		x.tasks[i].move(Moves)
		x.settle()
	}
}

// Title names the process in a sentence.
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

// Owns reports whether a lock is one of the whole process: one of its values is the process's name, with or without something behind it.
func (p *Process) OwnsKey(k simredis.Key) bool {
	owner := lock.Owner(p.Name)
	return slices.ContainsFunc(k.Values, func(value string) bool { return value == owner || strings.HasPrefix(value, owner+":") })
}

// Actor is one buyer: a sale, or some, one after the other.
type Actor struct {
	Index          int
	Name           string
	Process        *Process
	indexInProcess int    // its index among those of its process
	Sale           string // the id of its sale: its name, and then a number

	triesOnce  bool  // it tries once for the lock
	mainTask   *Task // that it starts with
	taskCount  int   // tasks
	saleCount  int   // that it has begun
	labelCount int   // as spawned, except for those of rounds that are forgotten

	cancelContext context.CancelFunc
	started       bool
	finished      bool
	cancelled     bool
	err           error
}

// Once reports whether it tries once for the lock, and does not wait.
func (a *Actor) TriesOnce() bool { return a.triesOnce }

// Next begins its next sale.
func (a *Actor) BeginSale() {
	a.saleCount++
	a.Sale = a.Name
	if a.saleCount > 1 {
		a.Sale = fmt.Sprint(a.Name, a.saleCount)
	}
}

// Started reports whether it has begun.
func (a *Actor) Started() bool { return a.started }

// canCancel reports whether its client may go away.
func (a *Actor) canCancel() bool { return a.started && !a.finished && !a.cancelled }

// Finished reports whether its sale has ended, with Err.
func (a *Actor) Finished() bool { return a.finished }

// Err returns how its sale ended.
func (a *Actor) Err() error { return a.err }

// Dead reports whether its process is.
func (a *Actor) Dead() bool { return a.Process.dead }

// Paused reports whether its process is.
func (a *Actor) Paused() bool { return a.Process.paused }
