package simredis

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Cluster is the servers of one schedule. The first keeps everything but a lock that is on masters of its own: the servers that follow.
type Cluster struct {
	memory  *Simulator
	servers []*Server
	version Version
}

// Version counts the changes of what the servers of a cluster hold, expiries aside.
type Version struct{ All, Transient uint64 }

// Plus returns the version after so many more changes.
func (v Version) Plus(changes Version) Version {
	return Version{v.All + changes.All, v.Transient + changes.Transient}
}

// Minus returns how many changes there were since an earlier version.
func (v Version) Minus(earlier Version) Version {
	return Version{v.All - earlier.All, v.Transient - earlier.Transient}
}

// Server is one Redis.
type Server struct {
	Index  int
	State  *State
	Health Health

	Standby           *State        // what its replica holds since it gets nothing more; nil: the same
	StandbyIsSnapshot bool          // that is no replica, but the server's own snapshot
	ClockOffset       time.Duration // how far its clock is ahead of the others'

	watches []*watch
}

// Health says whether a server answers.
type Health string

// The states of health.
const (
	Well    Health = "well"
	Hung    Health = "hung"    // it does what it is told, but does not answer
	Crashed Health = "crashed" // it refuses connections
)

// Expires reports whether a key of its is to expire.
func (s *Server) HasExpiringKey() bool { return s.State.nextExpiry() > 0 }

// NewCluster begins with a server in this state, and so many empty masters for the lock.
func (m *Simulator) NewCluster(stored *State, masters int) *Cluster {
	c := &Cluster{memory: m, servers: []*Server{{State: stored, Health: Well}}}
	for i := range masters {
		c.servers = append(c.servers, &Server{Index: i + 1, State: m.Empty(), Health: Well})
	}
	return c
}

// Later returns a cluster that this one would be if it had held this, so long ago, and got no command since.
func (c *Cluster) AgedCopy(held []*State, d time.Duration) (*Cluster, error) {
	later := &Cluster{memory: c.memory}
	for i, s := range c.servers {
		holds, err := c.memory.stateLater(held[i], d)
		if err != nil {
			return nil, err
		}
		later.servers = append(later.servers, &Server{Index: s.Index, Health: s.Health, State: holds, ClockOffset: s.ClockOffset})
	}
	return later, nil
}

// Servers returns all of them, by their index.
func (c *Cluster) Servers() []*Server { return c.servers }

// Stored returns what the first server holds.
func (c *Cluster) MainState() *State { return c.servers[0].State }

// Masters returns the servers that the lock is on.
func (c *Cluster) Masters() []*Server {
	if c.OnNodes() {
		return c.servers[1:]
	}
	return c.servers
}

// OnNodes reports whether the lock is on masters of its own.
func (c *Cluster) OnNodes() bool { return len(c.servers) > 1 }

// Locked gives the key of the lock with this name; of several masters, the first one's.
func (c *Cluster) LockKey(name string) (Key, bool) {
	for _, s := range c.Masters() {
		if k, has := s.State.Key(name); has {
			return k, true
		}
	}
	return Key{}, false
}

// Version returns how often what the servers hold has changed, and of that the keys that are not durable.
func (c *Cluster) Version() Version { return c.version }

// Contents returns what all of them hold.
func (c *Cluster) Contents() []*State {
	all := make([]*State, len(c.servers))
	for i, s := range c.servers {
		all[i] = s.State
	}
	return all
}

// Unchanged reports whether they hold what they held before, expiries aside.
func (c *Cluster) HoldsSame(before []*State) bool {
	for i, s := range c.servers {
		if !s.State.SameContent(before[i]) {
			return false
		}
	}
	return true
}

// NextExpiry returns the time until the first key expires, 0 if none will.
func (c *Cluster) NextExpiry() time.Duration {
	var next time.Duration
	for _, s := range c.servers {
		if expiry := s.State.nextExpiry(); expiry > 0 && (next == 0 || expiry < next) {
			next = expiry
		}
	}
	return next
}

// After returns what a server would hold after so long without a command.
func (c *Cluster) StateAfter(s *Server, d time.Duration) (*State, error) {
	return c.memory.stateLater(s.State, d)
}

// Empty returns what a server holds that has restarted without its data.
func (c *Cluster) EmptyState() *State { return c.memory.Empty() }

// Become changes what a server holds. It reports whether more than expiries has changed.
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

// Command gives the command that was sent.
func (c *Cluster) Command(sent []byte) *Command { return c.memory.command(sent) }

// Would returns the answer that a command would get. It changes nothing.
func (c *Cluster) Evaluate(s *Server, now time.Duration, command *Command) (*Answer, error) {
	return c.memory.answer(s.State, now+s.ClockOffset, command)
}

// WouldProlong reports whether a command would change an expiry, and nothing else, if it came a moment later.
func (c *Cluster) WouldProlong(s *Server, now time.Duration, command *Command) bool {
	const moment = time.Millisecond
	holds, err := c.StateAfter(s, moment)
	if err != nil {
		return false
	}
	answer, err := c.memory.answer(holds, now+moment+s.ClockOffset, command)
	return err == nil && answer.NewState.SameContent(holds) && !answer.NewState.SameKeys(holds)
}

// IsTimed reports whether the answer to a command may depend on the time of day.
func (c *Cluster) DependsOnTime(s *Server, command *Command) bool {
	return command.dependsOnTime || command.usesScripts && s.State.scriptsAskTime
}

// Ask gives the answer to what an actor sent on a connection. What the connection watches is seen to here; the rest is what the server
// would answer to anybody. The caller lets the server Become what the answer says.
func (c *Cluster) EvaluateOnConn(s *Server, conn *Conn, actor int, now time.Duration, command *Command) (*Answer, error) {
	if len(s.watches) == 0 && !command.usesWatch {
		return c.memory.answer(s.State, now+s.ClockOffset, command)
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
	return c.memory.answer(s.State, now+s.ClockOffset, command)
}

// AppendWatches writes an actor's watches, for what tells states apart.
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

// unwatch ends a connection's watches, and reports whether what they watched has changed.
func (s *Server) unwatch(conn *Conn) (changed bool) {
	s.watches = slices.DeleteFunc(s.watches, func(w *watch) bool {
		changed = changed || w.conn == conn && w.changed
		return w.conn == conn
	})
	return changed
}

// watch is a key that a connection watches, from its WATCH to its EXEC or UNWATCH.
type watch struct {
	conn    *Conn
	actor   int
	key     string
	changed bool // since then
}

// see takes down that the key has changed. That a key was written with the value that it had is not seen: no state tells.
func (w *watch) update(before, now *State) {
	was, had := before.Key(w.key)
	is, has := now.Key(w.key)
	w.changed = w.changed || had != has || !slices.Equal(was.Values, is.Values) || was.TTL != is.TTL
}

// refused returns the answer to a transaction of so many commands, MULTI and EXEC among them, that has no effect.
func abortedTransactionReply(commands int) []byte {
	return []byte("+OK\r\n" + strings.Repeat("+QUEUED\r\n", commands-2) + "*-1\r\n")
}
