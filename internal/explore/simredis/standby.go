package simredis

import (
	"cmp"
	"slices"
	"time"
)

// StopReplication makes a server's replica lag: it keeps what the server holds now, and only ages. The durable keys are left out, as
// promotedState takes them from the master.
func (c *Cluster) StopReplication(s *Server) {
	s.Standby = c.sim.intern(s.State.Transient, nil)
}

// TakeSnapshot makes a snapshot of what a server holds now. From then on it only ages.
func (c *Cluster) TakeSnapshot(s *Server) {
	s.Standby, s.StandbyIsSnapshot = c.sim.intern(s.State.Keys, nil), true
}

// promotedState returns the state of a server after its lagging replica, or its snapshot, has replaced it. From a replica come the
// transient keys: the durable keys and the loaded scripts are the master's. A snapshot is everything that the server holds after its
// restart, apart from the scripts.
func (c *Cluster) promotedState(s *Server) *State {
	keys := slices.Clone(s.Standby.Keys)
	if s.StandbyIsSnapshot {
		return c.sim.intern(keys, s.State.scripts)
	}
	for _, k := range s.State.Keys {
		if c.sim.isDurable(k.Name) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b Key) int { return cmp.Compare(a.Name, b.Name) })
	return c.sim.intern(keys, s.State.scripts)
}

// WouldLose reports whether promoting the server's standby would lose anything.
func (c *Cluster) WouldLose(s *Server) bool { return s.Standby != nil && c.promotedState(s) != s.State }

// Promote returns the state of a server after its lagging replica, or its snapshot, has replaced it, and removes that standby. The caller
// passes the state to SetState.
func (c *Cluster) Promote(s *Server) (holds *State) {
	holds = c.promotedState(s)
	if !s.StandbyIsSnapshot {
		s.ClockOffset = 0
	}
	s.Standby, s.StandbyIsSnapshot = nil, false
	return holds
}

// StateWithout returns the state of a server without one key.
func (c *Cluster) StateWithout(s *Server, key string) *State {
	keys := slices.DeleteFunc(slices.Clone(s.State.Keys), func(k Key) bool { return k.Name == key })
	return c.sim.intern(keys, s.State.scripts)
}

// LaggingServer returns the server with a lagging replica or an old snapshot; nil if there is none.
func (c *Cluster) LaggingServer() *Server {
	for _, s := range c.servers {
		if s.Standby != nil {
			return s
		}
	}
	return nil
}

// AgeStandby lets time pass for a server's standby, if it has one.
func (c *Cluster) AgeStandby(s *Server, d time.Duration) (err error) {
	if s.Standby != nil {
		s.Standby, err = c.sim.stateLater(s.Standby, d)
	}
	return err
}
