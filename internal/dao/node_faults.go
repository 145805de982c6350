package dao

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/alicebob/miniredis/v2/server"
)

// NodeState is the state of an embedded master.
type NodeState string

// States of an embedded master.
const (
	NodeUp      NodeState = "up"
	NodeStopped NodeState = "stopped" // accepts no connections; its data stay
	NodeHung    NodeState = "hung"    // accepts commands and executes none
)

// ErrUnknownNodeFault is returned by Node.Fault for an unknown action.
var ErrUnknownNodeFault = errors.New("want stop, start, hang, resume or empty")

// nodeFaults is the fault state of an embedded master, as changed by Node.Fault.
type nodeFaults struct {
	mu    sync.Mutex // held during a fault action
	state NodeState
	gate  sync.RWMutex // read-locked by each command; locked while the master hangs
}

// IsEmbedded reports whether the master runs in this process, so that Fault works on it.
func (n Node) IsEmbedded() bool { return n.embedded != nil }

// State returns the state of an embedded master.
func (n Node) State() NodeState {
	n.faults.mu.Lock()
	defer n.faults.mu.Unlock()
	return n.faults.state
}

// Fault performs the action stop, start, hang, resume or empty on an embedded master. It fails with ErrUnknownNodeFault for any other
// action, and for a master that is not embedded.
func (n Node) Fault(action string) error {
	if n.embedded == nil {
		return errNotEmbedded
	}
	f := n.faults
	f.mu.Lock()
	defer f.mu.Unlock()
	switch action {
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
		return fmt.Errorf("%.80q: %w", action, ErrUnknownNodeFault)
	}
	return nil
}

// shutDown closes an embedded master, even one that hangs. n.faults.mu is held.
func (n Node) shutDown() {
	n.faults.resume()
	n.embedded.Close()
}

// startWith restarts an embedded master by calling start. n.faults.mu is held.
func (n Node) startWith(start func() error) error {
	if err := start(); err != nil {
		return err
	}
	n.faults.state = NodeUp
	n.faults.attach(n.embedded.Server())
	return nil
}

// attach makes the commands of a newly started server wait while the master hangs.
func (f *nodeFaults) attach(srv *server.Server) {
	srv.SetPreHook(func(_ *server.Peer, name string, _ ...string) bool {
		if !strings.EqualFold(name, "HELLO") { // Clients can still connect.
			f.gate.RLock()
			defer f.gate.RUnlock()
		}
		return false
	})
}

// resume lets waiting commands continue. f.mu is held.
func (f *nodeFaults) resume() {
	if f.state == NodeHung {
		f.gate.Unlock()
		f.state = NodeUp
	}
}

// errNotEmbedded is returned for a Redis of another process, which cannot be restarted or faulted from here.
var errNotEmbedded = errors.New("it is not embedded")

// Restart restarts an embedded Redis empty. It fails for any other Redis.
func (r *Redis) Restart() error { return restart(r.embedded) }

// Restart restarts an embedded master empty.
func (n Node) Restart() error { return n.Fault("empty") }

// restart restarts m without its data.
func restart(m *embedded) error {
	if m == nil {
		return errNotEmbedded
	}
	m.Close()
	m.FlushAll()
	return m.Restart()
}
