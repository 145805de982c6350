package checker

import (
	"fmt"

	"lockstep/internal/explore/execution"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

// sync takes down whose the lock is for a replica that begins to lag.
func (c *Checker) sync(s *simredis.Server) {
	if s.Replica != nil && c.synced[s.Index] == nil {
		was := c.owners[s.Index]
		c.synced[s.Index] = &was
	}
}

// failedOver reports whether a replica has just taken its master's place.
func (c *Checker) failedOver(s *simredis.Server) bool {
	return s.Replica == nil && c.synced[s.Index] != nil
}

// restore sees whose the lock is on a server that has failed over: the one's who had it when the replica heard of it last. If the key is
// the same, or names the same process, the lock is still its owner's.
func (c *Checker) restore(o *ownership, s *simredis.Server, same bool) {
	synced := *c.synced[s.Index]
	c.synced[s.Index] = nil
	switch is, has := s.Holds.Key(lock.Key); {
	case !has:
		*o = ownership{nobody, nobody}
	case o.owner != nobody && (same || c.sales[o.owner].actor.Process.Owns(is)):
	default:
		*o = synced
	}
}

// appendSynced writes whose the lock is for a server's replica, if that lags.
func (c *Checker) appendSynced(b []byte, server int, o execution.Order) []byte {
	if synced := c.synced[server]; synced != nil {
		b = fmt.Appendf(b, "|synced %d %d ", o.Place(synced.owner), o.Place(synced.claimant))
	}
	return b
}
