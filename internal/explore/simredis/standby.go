package simredis

import (
	"cmp"
	"slices"
	"time"
)

// StopReplication ends the updates of a server's replica: from now on the replica has the server's current keys, which change only by
// expiring. Durable keys are left out: promotedState takes them from the master.
func (c *Cluster) StopReplication(s *Server) {
	s.Standby = c.sim.intern(s.State.Transient, nil)
}

// TakeSnapshot makes a snapshot of a server's current keys. Later they change only by expiring.
func (c *Cluster) TakeSnapshot(s *Server) {
	s.Standby, s.StandbyIsSnapshot = c.sim.intern(s.State.Keys, nil), true
}

// promotedState returns the state of a server after its replica, or its snapshot, has replaced it. A replica provides the transient keys;
// the durable keys and the loaded scripts are the master's. A snapshot provides all keys, and the loaded scripts are the server's.
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

// Promote returns the state of a server after its replica, or its snapshot, has replaced it, and removes that standby. The caller passes
// the state to SetState.
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

// LaggingServer returns the server with a Standby; nil if there is none.
func (c *Cluster) LaggingServer() *Server {
	for _, s := range c.servers {
		if s.Standby != nil {
			return s
		}
	}
	return nil
}

// AgeStandby lets a time d pass for a server's standby, if there is one.
func (c *Cluster) AgeStandby(s *Server, d time.Duration) (err error) {
	if s.Standby != nil {
		s.Standby, err = c.sim.stateLater(s.Standby, d)
	}
	return err
}
