package dao

import (
	"errors"
	"fmt"
	"strings"
	"sync"

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
type nodeFaults struct {
	mu    sync.Mutex // held while something is done to it
	state NodeState
	gate  sync.RWMutex // commands pass it; it is locked while the master hangs
}

// Embedded reports whether the master is one of our own, so that Fault can do something to it.
func (n Node) Embedded() bool { return n.embedded != nil }

// State returns what an embedded master is doing.
func (n Node) State() NodeState {
	n.faults.mu.Lock()
	defer n.faults.mu.Unlock()
	return n.faults.state
}

// Fault stops, starts, hangs, resumes or empties an embedded master. It fails with ErrNodeDo for anything else.
func (n Node) Fault(what string) error {
	if n.embedded == nil {
		return errNotEmbedded
	}
	f := n.faults
	f.mu.Lock()
	defer f.mu.Unlock()
	switch what {
	case "stop":
		n.shutDown()
		f.state = NodeStopped
	case "start":
		if f.state == NodeStopped {
			return n.startWith(n.embedded.Restart)
		}
	case "hang":
		if f.state == NodeUp {
			f.gate.Lock()
			f.state = NodeHung
		}
	case "resume":
		f.resume()
	case "empty":
		f.resume()
		return n.startWith(func() error { return restart(n.embedded) })
	default:
		return fmt.Errorf("%.80q: %w", what, ErrNodeDo)
	}
	return nil
}

// end ends a master, also one that hangs.
func (n Node) shutDown() {
	n.faults.resume()
	n.embedded.Close()
}

// startBy starts a master again. n.faults.mu is held.
func (n Node) startWith(start func() error) error {
	if err := start(); err != nil {
		return err
	}
	n.faults.state = NodeUp
	n.faults.attach(n.embedded.Server())
	return nil
}

// attach makes the commands of a master that was just started wait while it hangs.
func (f *nodeFaults) attach(to *server.Server) {
	to.SetPreHook(func(_ *server.Peer, name string, _ ...string) bool {
		if !strings.EqualFold(name, "HELLO") { // a client can connect to it
			f.gate.RLock()
			defer f.gate.RUnlock()
		}
		return false
	})
}

// resume lets the commands go on that wait. f.mu is held.
func (f *nodeFaults) resume() {
	if f.state == NodeHung {
		f.gate.Unlock()
		f.state = NodeUp
	}
}

// errNotEmbedded means that a Redis is another process's, which we cannot restart.
var errNotEmbedded = errors.New("it is not embedded")

// Restart restarts an embedded Redis, without what it held.
func (r *Redis) Restart() error { return restart(r.embedded) }

// Restart restarts an embedded master, without what it held.
func (n Node) Restart() error { return n.Fault("empty") }

func restart(m *embedded) error {
	if m == nil {
		return errNotEmbedded
	}
	m.Close()
	m.FlushAll()
	return m.Restart()
}
