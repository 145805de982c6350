package simredis

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"lockstep/internal/dao"
)

// Lag cuts a server's replica off: it holds what the server holds now, and gets nothing more but time. Of that, the lock's keys alone
// are ever of use.
func (c *Cluster) Lag(s *Server) {
	s.Replica = c.memory.intern(s.Holds.locks, nil, nil)
}

// Save makes a snapshot of a server: what it holds now, with the stock. It gets nothing more but time.
func (c *Cluster) Save(s *Server) {
	s.Replica, s.Saved = c.memory.intern(s.Holds.Keys, s.Holds.orders, nil), true
}

// promoted returns what a server would hold if its replica, which lags, took its place. The stock and the ledger are the master's: they
// are taken to be kept elsewhere, so that whatever goes wrong is the lock's doing. So are the scripts that were loaded.
//
// A snapshot is all that a server holds that has restarted with it.
func (c *Cluster) promoted(s *Server) *State {
	keys := slices.Clone(s.Replica.Keys)
	if s.Saved {
		return c.memory.intern(keys, s.Replica.orders, s.Holds.scripts)
	}
	for _, k := range s.Holds.Keys {
		if k.IsShops() {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b Key) int { return cmp.Compare(a.Name, b.Name) })
	return c.memory.intern(keys, s.Holds.orders, s.Holds.scripts)
}

// First returns the key's first value or field, "" if it has none.
func (k Key) First() string {
	if len(k.Values) == 0 {
		return ""
	}
	return k.Values[0]
}

// IsShops reports whether a key is the stock's or the ledger's. Every other key is the lock's.
func (k Key) IsShops() bool {
	return k.Name == dao.InventoryKey || strings.HasPrefix(k.Name, "{"+dao.InventoryKey+"}")
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
	return c.memory.intern(keys, s.Holds.orders, s.Holds.scripts)
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
