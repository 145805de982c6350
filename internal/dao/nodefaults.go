package dao

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// NodeState is what an embedded master is doing.
type NodeState string

// The states.
const (
	NodeUp      NodeState = "up"
	NodeStopped NodeState = "stopped" // it takes no connections; what it holds, it keeps
	NodeHung    NodeState = "hung"    // it takes commands, and does none
)

// ErrNodeDo means that nothing of that name can be done to a master.
var ErrNodeDo = errors.New("want stop, start, hang, resume or empty")

// faults are what is done to an embedded master by hand.
type faults struct {
	mu      sync.Mutex // held while it is stopped or started
	stopped bool
	gate    gate
}

// gate is what the commands of a master that hangs wait at.
type gate struct {
	mu   sync.Mutex
	shut chan struct{} // closed when they may go on; nil: they may
}

// Embedded reports whether the master is one of our own, so that Fault can do something to it.
func (n Node) Embedded() bool { return n.embedded != nil }

// State returns what an embedded master is doing.
func (n Node) State() NodeState {
	n.faults.mu.Lock()
	defer n.faults.mu.Unlock()
	switch {
	case n.faults.stopped:
		return NodeStopped
	case n.faults.gate.passed() != nil:
		return NodeHung
	default:
		return NodeUp
	}
}

// Fault stops, starts, hangs, resumes or empties an embedded master. It fails with ErrNodeDo for anything else.
func (n Node) Fault(what string) error {
	if n.embedded == nil {
		return errNotEmbedded
	}
	n.faults.mu.Lock()
	defer n.faults.mu.Unlock()
	switch what {
	case "stop":
		n.faults.gate.open()
		n.embedded.Close()
		n.faults.stopped = true
		return nil
	case "start":
		if !n.faults.stopped {
			return nil
		}
		return n.again(n.embedded.Restart)
	case "hang":
		if !n.faults.stopped {
			n.faults.gate.close()
		}
		return nil
	case "resume":
		n.faults.gate.open()
		return nil
	case "empty":
		n.faults.gate.open()
		return n.again(func() error { return restart(n.embedded) })
	default:
		return fmt.Errorf("%.80q: %w", what, ErrNodeDo)
	}
}

// again starts a master again. n.faults.mu is held.
func (n Node) again(start func() error) error {
	if err := start(); err != nil {
		return err
	}
	n.faults.stopped = false
	n.faults.attach(n.embedded)
	return nil
}

// attach makes the commands of a master that was just started wait while it hangs.
func (f *faults) attach(m *miniredis.Miniredis) {
	m.Server().SetPreHook(func(_ *server.Peer, name string, _ ...string) bool {
		if shut := f.gate.passed(); shut != nil && !strings.EqualFold(name, "HELLO") { // a client can connect to it
			<-shut
		}
		return false
	})
}

// passed returns what a command has to wait for; nil: nothing.
func (g *gate) passed() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shut
}

// close makes commands wait from now on.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut == nil {
		g.shut = make(chan struct{})
	}
}

// open lets the commands go on that wait.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut != nil {
		close(g.shut)
		g.shut = nil
	}
}

// end lets a master be closed.
func (n Node) end() {
	n.faults.gate.open()
	n.embedded.Close()
}
