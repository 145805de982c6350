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
	Name   string
	x      *Execution
	actors []*Actor
	ahead  time.Duration // how far its clock is ahead of the execution's
	dead   bool
	paused bool

	memory
	notes int // of what happened
	told  int // the step in which the last reply came
}

// memory stands for all that a process remembers.
type memory struct {
	known   []byte        // the actors that its past names, by their indices: it is numbered in their order
	past    Fingerprint   // of all that ever happened to it. Its code is deterministic, so this stands for its whole state.
	answers []Fingerprint // of its history with each server, for tasks that were started to ask it
	looks   looks
}

// looks are how often a process has looked at the clock, and the last time that it saw.
type looks struct {
	times int
	last  time.Duration
}

func newProcess(i int, x *Execution) *Process {
	setup := &x.Setup
	p := &Process{
		x:      x,
		Name:   fmt.Sprint("replica", int(setup.FirstName-'A')+i+1),
		ahead:  setup.Scenario.Skew * [...]time.Duration{-1, 1, 0}[i%3],
		memory: memory{answers: make([]Fingerprint, len(setup.Cluster.Servers()))},
	}
	if setup.Scenario.Apart() {
		p.Name = setup.named(i)
		p.known = []byte{byte(i)} //nolint:gosec // there are few
	}
	return p
}

func (p *Process) hasBegun() bool {
	return slices.ContainsFunc(p.actors, func(a *Actor) bool { return a.started })
}

func (p *Process) ended() bool {
	return !slices.ContainsFunc(p.actors, func(a *Actor) bool { return !a.finished })
}

// IsOver reports whether a process lives and runs, and all its sales have ended.
func (p *Process) IsOver() bool { return !p.dead && !p.paused && p.hasBegun() && p.ended() }

// maxSteps is how many commands a process may send to finish.
const maxSteps = 100

// Finish lets a's process do something, and then all that it can without time, behind everybody's back: no schedule can say so.
func (x *Execution) Finish(a *Actor, f func()) {
	a.spawn(unnamed, f)
	x.settle()
	x.finish(func(t *Task) bool { return t.actor.Process == a.Process })
}

// finish lets such tasks send commands until they wait for something else.
func (x *Execution) finish(which func(*Task) bool) {
	for range maxSteps {
		i := slices.IndexFunc(x.tasks, func(t *Task) bool { return which(t) && t.live() && t.acts() })
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
func (p *Process) Owns(k simredis.Key) bool {
	owner := lock.Owner(p.Name)
	return slices.ContainsFunc(k.Values, func(value string) bool { return value == owner || strings.HasPrefix(value, owner+":") })
}

// Actor is one buyer: a sale, or some, one after the other.
type Actor struct {
	Index   int
	Name    string
	Process *Process
	inside  int    // its index among those of its process
	Sale    string // the id of its sale: its name, and then a number

	once    bool  // it tries once for the lock
	main    *Task // that it starts with
	spawned int   // tasks
	sales   int   // that it has begun
	labels  int   // as spawned, except for those of rounds that are forgotten

	leave     context.CancelFunc
	started   bool
	finished  bool
	cancelled bool
	err       error
}

// Once reports whether it tries once for the lock, and does not wait.
func (a *Actor) Once() bool { return a.once }

// Next begins its next sale.
func (a *Actor) Next() {
	a.sales++
	a.Sale = a.Name
	if a.sales > 1 {
		a.Sale = fmt.Sprint(a.Name, a.sales)
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
