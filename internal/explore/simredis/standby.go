package simredis

import (
	"cmp"
	"slices"
	"time"
)

// Lag cuts a server's replica off: it holds what the server holds now, and gets nothing more but time. Of that, the transient keys alone
// are ever of use.
func (c *Cluster) StopReplication(s *Server) {
	s.Standby = c.memory.intern(s.State.Transient, nil)
}

// Save makes a snapshot of a server: what it holds now. It gets nothing more but time.
func (c *Cluster) TakeSnapshot(s *Server) {
	s.Standby, s.StandbyIsSnapshot = c.memory.intern(s.State.Keys, nil), true
}

// promoted returns what a server would hold if its replica, which lags, took its place. The durable keys are the master's, and so are
// the scripts that were loaded.
//
// A snapshot is all that a server holds that has restarted with it.
func (c *Cluster) promotedState(s *Server) *State {
	keys := slices.Clone(s.Standby.Keys)
	if s.StandbyIsSnapshot {
		return c.memory.intern(keys, s.State.scripts)
	}
	for _, k := range s.State.Keys {
		if c.memory.isDurable(k.Name) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b Key) int { return cmp.Compare(a.Name, b.Name) })
	return c.memory.intern(keys, s.State.scripts)
}

// WouldLose reports whether something would be lost if a server's replica, or its snapshot, took its place.
func (c *Cluster) WouldLose(s *Server) bool { return s.Standby != nil && c.promotedState(s) != s.State }

// Promote lets a server's replica, which lags, take its place, or its snapshot. The caller lets it Become what that holds.
func (c *Cluster) Promote(s *Server) (holds *State) {
	holds = c.promotedState(s)
	if !s.StandbyIsSnapshot {
		s.ClockOffset = 0
	}
	s.Standby, s.StandbyIsSnapshot = nil, false
	return holds
}

// Without returns what a server would hold without a key.
func (c *Cluster) StateWithout(s *Server, key string) *State {
	keys := slices.DeleteFunc(slices.Clone(s.State.Keys), func(k Key) bool { return k.Name == key })
	return c.memory.intern(keys, s.State.scripts)
}

// Lagging returns the server whose replica lags, nil if there is none.
func (c *Cluster) LaggingServer() *Server {
	for _, s := range c.servers {
		if s.Standby != nil {
			return s
		}
	}
	return nil
}

// AgeReplica lets time pass for a server's replica, if that lags.
func (c *Cluster) AgeStandby(s *Server, d time.Duration) (err error) {
	if s.Standby != nil {
		s.Standby, err = c.memory.stateLater(s.Standby, d)
	}
	return err
}
