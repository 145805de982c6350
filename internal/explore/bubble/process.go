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

// Process is a simulated process: one or more actors that share connections and crash together.
type Process struct {
	Name        string   // names of the actors in it, joined: "A", "BC"
	Index       int      // position among the processes of the run
	Actors      []*Actor // actors, sorted by name
	Crashed     bool     // the process has crashed, for good
	Paused      bool     // the process was paused, for the rest of the run
	LostMessage bool     // a command or a reply was lost, or the client gave up waiting for a reply

	run          *Run     // run of which the process is a part
	cleanups     []func() // functions registered by Cleanup
	history      history  // everything that the process has observed
	hashBuffer   []byte   // scratch space of recordEvent
	sentCommands int      // number of commands sent
}

// Dial connects the process to a node in memory; pass it to a client as its dialer. The address must be one that Addr returns; with a
// single node, any address will do.
func (p *Process) Dial(_ context.Context, _, addr string) (net.Conn, error) {
	nodes := p.run.explorer.limits.Nodes
	for node := range nodes {
		if addr == Addr(node) || nodes == 1 {
			return p.run.server.Dial(p.Name, node), nil
		}
	}
	return nil, fmt.Errorf("there is no node %s: the addresses are %s to %s", addr, Addr(0), Addr(nodes-1))
}

// Addr returns the address of a node, counted from 0. It contains no host name, because a lookup would leave the bubble.
func Addr(node int) string { return fmt.Sprintf("127.0.0.1:%d", 6379+node) }

// Cleanup registers a function to call when the run ends. The functions are called in reverse order.
func (p *Process) Cleanup(f func()) { p.cleanups = append(p.cleanups, f) }

// ErrCrashed is the error of an actor whose process has crashed.
var ErrCrashed = errors.New("its process has crashed")

// processSteps returns the possible crashes and pauses. A process can crash only while one of its actors has started and is not done: at
// other times a crash has no effect. It can pause only while it does not wait for a reply: its timers continue in the bubble, so its
// reaction to a late reply could not be simulated.
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
		waits := slices.ContainsFunc(r.server.HeldConns(), func(conn *server.Conn) bool { return conn.Process == p.Name })
		if r.remainingFaults[fault.Pause] > 0 && !p.Paused && !waits && r.game.CanPause(p) {
			add(p, "pause", trace.KindPauses, func() { r.pause(p) })
		}
	}
	return all
}

// crash cuts off a process for good. Its code runs on without effect.
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

// pause suspends a process for the rest of the schedule.
func (r *Run) pause(p *Process) {
	r.remainingFaults[fault.Pause]--
	r.game.OnPause(p)
	p.Paused = true
	r.server.Pause(p.Name)
}

// IsAnyPaused reports whether a process is paused. If so, time may pass although actors have not started.
func (r *Run) IsAnyPaused() bool {
	return slices.ContainsFunc(r.processes, func(p *Process) bool { return p.Paused })
}
