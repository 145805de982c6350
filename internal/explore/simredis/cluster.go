package simredis

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Cluster holds the servers of one schedule. The first server holds everything. If the lock is on several masters, these are the other
// servers, and the first one holds the rest.
type Cluster struct {
	sim     *Simulator
	servers []*Server // all servers, by index
	version Version   // number of changes so far
}

// Version counts the changes of the servers' states. Changes of only an expiry do not count.
type Version struct {
	All       uint64 // all changes
	Transient uint64 // changes of keys that a failover may lose
}

// Plus returns the version after further changes.
func (v Version) Plus(changes Version) Version {
	return Version{v.All + changes.All, v.Transient + changes.Transient}
}

// Minus returns the changes since an earlier version.
func (v Version) Minus(earlier Version) Version {
	return Version{v.All - earlier.All, v.Transient - earlier.Transient}
}

// Server is one Redis server.
type Server struct {
	Index  int    // position in its cluster; 0: the server that holds the stock
	State  *State // current state
	Health Health // how the server answers

	Standby           *State        // state of a replica that gets no more updates, or of an old snapshot; nil: neither exists
	StandbyIsSnapshot bool          // Standby is a snapshot of the server, not a replica
	ClockOffset       time.Duration // lead of the server's clock over the virtual time

	watches []*watch // keys watched by connections
}

// Health is how a server answers.
type Health string

// The values of Health.
const (
	Healthy Health = "well"    // executes commands and answers
	Hung    Health = "hung"    // executes commands and does not answer
	Crashed Health = "crashed" // refuses connections
)

// HasExpiringKey reports whether any of the server's keys has an expiry.
func (s *Server) HasExpiringKey() bool { return s.State.nextExpiry() > 0 }

// NewCluster creates a cluster whose first server is in this state, with a number of empty masters for the lock.
func (sim *Simulator) NewCluster(stored *State, masters int) *Cluster {
	c := &Cluster{sim: sim, servers: []*Server{{State: stored, Health: Healthy}}}
	for i := range masters {
		c.servers = append(c.servers, &Server{Index: i + 1, State: sim.Empty(), Health: Healthy})
	}
	return c
}

// AgedCopy returns a copy of the cluster whose servers are in the given states, by index, after a time d without a command.
func (c *Cluster) AgedCopy(states []*State, d time.Duration) (*Cluster, error) {
	later := &Cluster{sim: c.sim}
	for i, s := range c.servers {
		aged, err := c.sim.stateLater(states[i], d)
		if err != nil {
			return nil, err
		}
		later.servers = append(later.servers, &Server{Index: s.Index, Health: s.Health, State: aged, ClockOffset: s.ClockOffset})
	}
	return later, nil
}

// Servers returns all servers, by index.
func (c *Cluster) Servers() []*Server { return c.servers }

// MainState returns the state of the first server.
func (c *Cluster) MainState() *State { return c.servers[0].State }

// Masters returns the servers that hold the lock.
func (c *Cluster) Masters() []*Server {
	if c.OnNodes() {
		return c.servers[1:]
	}
	return c.servers
}

// OnNodes reports whether the lock is on several masters.
func (c *Cluster) OnNodes() bool { return len(c.servers) > 1 }

// LockKey returns the key of the lock with this name, from the first master that has it.
func (c *Cluster) LockKey(name string) (Key, bool) {
	for _, s := range c.Masters() {
		if k, ok := s.State.Key(name); ok {
			return k, true
		}
	}
	return Key{}, false
}

// Version returns the changes of the servers' states so far.
func (c *Cluster) Version() Version { return c.version }

// Contents returns the states of all servers, by index.
func (c *Cluster) Contents() []*State {
	all := make([]*State, len(c.servers))
	for i, s := range c.servers {
		all[i] = s.State
	}
	return all
}

// HoldsSame reports whether the servers' states equal before, apart from expiries and loaded scripts.
func (c *Cluster) HoldsSame(before []*State) bool {
	for i, s := range c.servers {
		if !s.State.SameContent(before[i]) {
			return false
		}
	}
	return true
}

// NextExpiry returns the time until the first key expires; 0: no key has an expiry.
func (c *Cluster) NextExpiry() time.Duration {
	var next time.Duration
	for _, s := range c.servers {
		if expiry := s.State.nextExpiry(); expiry > 0 && (next == 0 || expiry < next) {
			next = expiry
		}
	}
	return next
}

// StateAfter returns the state of a server after a time d without commands.
func (c *Cluster) StateAfter(s *Server, d time.Duration) (*State, error) {
	return c.sim.stateLater(s.State, d)
}

// EmptyState returns the state of a server that has restarted without data.
func (c *Cluster) EmptyState() *State { return c.sim.Empty() }

// SetState changes the state of a server. It reports whether anything but expiries has changed.
func (c *Cluster) SetState(s *Server, next *State) (changed bool) {
	before := s.State
	s.State = next
	if changed = !before.SameContent(next); changed {
		c.version.All++
		if !before.SameTransient(next) {
			c.version.Transient++
		}
	}
	for _, w := range s.watches {
		w.update(before, next)
	}
	return changed
}

// Command returns the command for these bytes, as a client sends them.
func (c *Cluster) Command(sent []byte) *Command { return c.sim.command(sent) }

// Evaluate returns the answer that a command would get from a server at the virtual time now. It changes nothing.
func (c *Cluster) Evaluate(s *Server, now time.Duration, command *Command) (*Answer, error) {
	return c.sim.answer(s.State, now+s.ClockOffset, command)
}

// WouldProlong reports whether a command that arrives a moment later would change only an expiry.
func (c *Cluster) WouldProlong(s *Server, now time.Duration, command *Command) bool {
	const moment = time.Millisecond
	holds, err := c.StateAfter(s, moment)
	if err != nil {
		return false
	}
	answer, err := c.sim.answer(holds, now+moment+s.ClockOffset, command)
	return err == nil && answer.NewState.SameContent(holds) && !answer.NewState.SameKeys(holds)
}

// DependsOnTime reports whether a server's answer to a command may depend on the time of day.
func (c *Cluster) DependsOnTime(s *Server, command *Command) bool {
	return command.dependsOnTime || command.usesScripts && s.State.scriptsAskTime
}

// EvaluateOnConn is like Evaluate, for a command that an actor sends on a connection. It updates the keys that the connection watches. All
// other changes are in the answer, whose NewState the caller passes to SetState.
func (c *Cluster) EvaluateOnConn(s *Server, conn *Conn, actor int, now time.Duration, command *Command) (*Answer, error) {
	if len(s.watches) == 0 && !command.usesWatch {
		return c.sim.answer(s.State, now+s.ClockOffset, command)
	}
	if command.malformed != nil {
		return nil, command.malformed
	}
	commands := command.parsed
	switch first, last := commands[0], commands[len(commands)-1]; {
	case strings.EqualFold(first[0], "WATCH"):
		for _, key := range first[1:] {
			s.watches = append(s.watches, &watch{conn: conn, actor: actor, key: key})
		}
		return &Answer{Reply: []byte("+OK\r\n"), NewState: s.State}, nil
	case strings.EqualFold(first[0], "UNWATCH"):
		s.unwatch(conn)
		return &Answer{Reply: []byte("+OK\r\n"), NewState: s.State}, nil
	case strings.EqualFold(last[0], "EXEC") && s.unwatch(conn):
		return &Answer{Reply: abortedTransactionReply(len(commands)), NewState: s.State}, nil
	}
	return c.sim.answer(s.State, now+s.ClockOffset, command)
}

// AppendWatches appends an actor's watches to the data of a state hash.
func (c *Cluster) AppendWatches(b []byte, actor int) []byte {
	for _, s := range c.servers {
		for _, w := range s.watches {
			if w.actor == actor {
				b = fmt.Appendf(b, "|%s %t", w.key, w.changed)
			}
		}
	}
	return b
}

// unwatch ends a connection's watches, and reports whether a watched key has changed.
func (s *Server) unwatch(conn *Conn) (changed bool) {
	s.watches = slices.DeleteFunc(s.watches, func(w *watch) bool {
		changed = changed || w.conn == conn && w.changed
		return w.conn == conn
	})
	return changed
}

// watch is a key that a connection watches, from WATCH to EXEC or UNWATCH.
type watch struct {
	conn    *Conn  // connection that sent WATCH
	actor   int    // index of the actor that sent WATCH
	key     string // name of the key
	changed bool   // the key has changed since WATCH
}

// update sets changed if the key differs between two states. A write of the value that the key had before goes unnoticed, as the states are
// the same.
func (w *watch) update(before, after *State) {
	oldKey, existed := before.Key(w.key)
	newKey, exists := after.Key(w.key)
	w.changed = w.changed || existed != exists || !slices.Equal(oldKey.Values, newKey.Values) || oldKey.TTL != newKey.TTL
}

// abortedTransactionReply returns the replies to an aborted transaction. MULTI and EXEC count among its commands.
func abortedTransactionReply(commands int) []byte {
	return []byte("+OK\r\n" + strings.Repeat("+QUEUED\r\n", commands-2) + "*-1\r\n")
}
