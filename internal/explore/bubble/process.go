package bubble

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	"lockstep/internal/explore/bubble/server"
	"lockstep/internal/explore/fault"
	"lockstep/internal/trace"
)

// Process is a process with a few actors. Its connections are its own.
type Process struct {
	Name        string // the names of its actors: "A", or "BC"
	Index       int    // among the processes of its run
	Actors      []*Actor
	Crashed     bool
	Paused      bool
	LostMessage bool // a command of it, or a reply, was lost, or its client did not wait for the reply

	run          *Run
	cleanups     []func() // of its clients
	history      history
	hashBuffer   []byte
	sentCommands int // commands
}

// Dial connects the process to a node in memory: it is the dialer of a client. The address is one that Addr gives; with one node, any will
// do.
func (p *Process) Dial(_ context.Context, _, addr string) (net.Conn, error) {
	nodes := p.run.stage.limits.Nodes
	for node := range nodes {
		if addr == Addr(node) || nodes == 1 {
			return p.run.server.Dial(p.Name, node), nil
		}
	}
	return nil, fmt.Errorf("there is no node %s: the addresses are %s to %s", addr, Addr(0), Addr(nodes-1))
}

// Addr returns the address of a node. Nodes count from 0. It is no name: to look up one would lead out of the bubble.
func Addr(node int) string { return fmt.Sprintf("127.0.0.1:%d", 6379+node) }

// Cleanup registers what to do when the run ends. What is registered last is done first.
func (p *Process) Cleanup(f func()) { p.cleanups = append(p.cleanups, f) }

// ErrCrashed is the error of an actor whose process has crashed.
var ErrCrashed = errors.New("its process has crashed")

// ofProcesses are crashes and pauses. A process that has not begun, or is done, has nothing to lose. One that pauses waits for nothing:
// what its code would do with an answer that comes after the pause, the bubble cannot tell, as its timers run on.
func (r *Run) processSteps() (all []step) {
	add := func(p *Process, what, kind string, do func()) {
		all = append(all, step{p.Name + ":" + what, kind, p.Name, func() error {
			do()
			r.recordStepEvent(p, p.Name+": "+what)
			return nil
		}})
	}
	for _, p := range r.processes {
		isAtWork := func(a *Actor) bool { return !a.IsIn(NotStarted) && !a.IsIn(Done) }
		if r.remainingFaults[fault.Crash] > 0 && slices.ContainsFunc(p.Actors, isAtWork) {
			add(p, "crash", trace.KindDies, func() { r.crash(p) })
		}
		waits := slices.ContainsFunc(r.server.HeldConns(), func(l *server.ServerConn) bool { return l.Process == p.Name })
		if r.remainingFaults[fault.Pause] > 0 && !p.Paused && !waits && r.game.CanPause(p) {
			add(p, "pause", trace.KindPauses, func() { r.pause(p) })
		}
	}
	return all
}

// crash cuts a process off for good. Its code runs on, but nobody hears of it.
func (r *Run) crash(p *Process) {
	r.remainingFaults[fault.Crash]--
	for _, a := range p.Actors {
		a.mu.Lock()
		a.phase, a.err = Done, ErrCrashed
		a.mu.Unlock()
	}
	p.Crashed = true
	r.server.Crash(p.Name)
}

// pause cuts a process off for as long as the schedule goes on.
func (r *Run) pause(p *Process) {
	r.remainingFaults[fault.Pause]--
	r.game.OnPause(p)
	p.Paused = true
	r.server.Pause(p.Name)
}

// IsAnyPaused reports whether a process is paused: then time may pass before another one begins.
func (r *Run) IsAnyPaused() bool {
	return slices.ContainsFunc(r.processes, func(p *Process) bool { return p.Paused })
}
