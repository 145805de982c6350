package simredis

import (
	"cmp"
	"slices"
	"time"
)

// Lag cuts a server's replica off: it holds what the server holds now, and gets nothing more but time. Of that, the transient keys alone
// are ever of use.
func (c *Cluster) Lag(s *Server) {
	s.Replica = c.memory.intern(s.Holds.Transient, nil)
}

// Save makes a snapshot of a server: what it holds now. It gets nothing more but time.
func (c *Cluster) Save(s *Server) {
	s.Replica, s.Saved = c.memory.intern(s.Holds.Keys, nil), true
}

// promoted returns what a server would hold if its replica, which lags, took its place. The durable keys are the master's, and so are
// the scripts that were loaded.
//
// A snapshot is all that a server holds that has restarted with it.
func (c *Cluster) promoted(s *Server) *State {
	keys := slices.Clone(s.Replica.Keys)
	if s.Saved {
		return c.memory.intern(keys, s.Holds.scripts)
	}
	for _, k := range s.Holds.Keys {
		if c.memory.durable(k.Name) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b Key) int { return cmp.Compare(a.Name, b.Name) })
	return c.memory.intern(keys, s.Holds.scripts)
}

// WouldLose reports whether something would be lost if a server's replica, or its snapshot, took its place.
func (c *Cluster) WouldLose(s *Server) bool { return s.Replica != nil && c.promoted(s) != s.Holds }

// Promote lets a server's replica, which lags, take its place, or its snapshot. The caller lets it Become what that holds.
func (c *Cluster) Promote(s *Server) (holds *State) {
	holds = c.promoted(s)
	if !s.Saved {
		s.Ahead = 0
	}
	s.Replica, s.Saved = nil, false
	return holds
}

// Without returns what a server would hold without a key.
func (c *Cluster) Without(s *Server, key string) *State {
	keys := slices.DeleteFunc(slices.Clone(s.Holds.Keys), func(k Key) bool { return k.Name == key })
	return c.memory.intern(keys, s.Holds.scripts)
}

// Lagging returns the server whose replica lags, nil if there is none.
func (c *Cluster) Lagging() *Server {
	for _, s := range c.servers {
		if s.Replica != nil {
			return s
		}
	}
	return nil
}

// AgeReplica lets time pass for a server's replica, if that lags.
func (c *Cluster) AgeReplica(s *Server, d time.Duration) (err error) {
	if s.Replica != nil {
		s.Replica, err = c.memory.pass(s.Replica, d)
	}
	return err
}
