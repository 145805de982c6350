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
	s.Replica = c.memory.intern(s.Holds.locks, nil)
}

// promoted returns what a server would hold if its replica, which lags, took its place. The stock and the ledger are the master's: they
// are taken to be kept elsewhere, so that whatever goes wrong is the lock's doing. So are the scripts that were loaded.
func (c *Cluster) promoted(s *Server) *State {
	keys := slices.Clone(s.Replica.Keys)
	for _, k := range s.Holds.Keys {
		if k.IsShops() {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b Key) int { return cmp.Compare(a.Name, b.Name) })
	return c.memory.intern(keys, s.Holds.scripts)
}

// IsShops reports whether a key is the stock's or the ledger's. Every other key is the lock's.
func (k Key) IsShops() bool {
	return k.Name == dao.InventoryKey || strings.HasPrefix(k.Name, "{"+dao.InventoryKey+"}")
}

// Loses reports whether something would be lost if a server's replica took its place.
func (c *Cluster) Loses(s *Server) bool { return s.Replica != nil && c.promoted(s) != s.Holds }

// Promote lets a server's replica, which lags, take its place. The caller lets it Become what that holds.
func (c *Cluster) Promote(s *Server) (holds *State) {
	holds = c.promoted(s)
	s.Replica, s.Ahead = nil, 0
	return holds
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
