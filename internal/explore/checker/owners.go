package checker

import (
	"slices"

	"lockstep/internal/explore/anomaly"
	"lockstep/internal/explore/execution"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

const nobody = -1

// ownership says whose the lock is on one server, by the index of an actor.
type ownership struct {
	owner    int
	claimant int // who wrote over the lock of somebody inside, and may believe that it owns it now
}

// Changed implements execution.Checker.
func (c *Checker) Changed(s *simredis.Server, before *simredis.State, by *execution.Actor) {
	was, had := before.Key(lock.Key)
	is, has := s.Holds.Key(lock.Key)
	c.sync(s)
	switch {
	case c.failedOver(s):
		c.restore(&c.owners[s.Index], s, slices.Equal(was.Values, is.Values))
	case by == nil:
		if !has {
			c.owners[s.Index].owner = nobody
		}
	case had != has || !slices.Equal(was.Values, is.Values) || was.TTL != is.TTL:
		c.wrote(by, &c.owners[s.Index], change{was, is, had, has})
	}
	c.count()
}

// change is what became of the lock's key.
type change struct {
	was, is  simredis.Key
	had, has bool
}

func (ch change) sameOwner() bool { return slices.Equal(ch.was.Values, ch.is.Values) }

// deed says it in a word.
func (ch change) deed() string {
	switch {
	case !ch.has:
		return "removes"
	case ch.sameOwner():
		return "prolongs"
	default:
		return "overwrites"
	}
}

// wrote sees that an actor changed the lock's key on a server.
func (c *Checker) wrote(by *execution.Actor, o *ownership, ch change) {
	ours := by.Process.Owns(ch.was)
	over := ch.has && ch.had && !ch.sameOwner() && ch.was.TTL == 0 // it wrote over a lock that Redis would not have ended
	ofNobody := o.owner == nobody || over && c.sales[o.owner].done()
	if ch.had && !ofNobody && o.owner != by.Index && !ours {
		c.finds(anomaly.ForeignRelease, "%s %s %s's lock", by.Name, ch.deed(), c.x.Actors()[o.owner].Name)
	}
	switch next := c.handed(ch.is, by); {
	case !ch.has:
		*o = ownership{nobody, nobody}
	case ours && next != nobody:
		*o = ownership{next, nobody}
	case over && o.owner != nobody && c.sales[o.owner].inside():
		o.claimant = by.Index
	case !ch.had || !ch.sameOwner() && !ours:
		*o = ownership{by.Index, nobody}
	}
}

// handed gives the one that an actor has made the lock over to. That is any who waits in the process that owns it now: enters sees which.
func (c *Checker) handed(to simredis.Key, by *execution.Actor) int {
	return slices.IndexFunc(c.sales, func(s *sale) bool {
		return s.actor.Process != by.Process && s.waits && s.actor.Process.Owns(to)
	})
}

// count sees whose the lock is: who owns it on most of the servers that it is on.
func (c *Checker) count() {
	holder, masters := nobody, c.x.Cluster.Masters()
	for i := range c.sales {
		n := 0
		for _, s := range masters {
			if c.owners[s.Index].owner == i {
				n++
			}
		}
		if n > len(masters)/2 {
			holder = i
		}
	}
	if c.holder != nobody && holder != c.holder {
		if s := c.sales[c.holder]; s.inside() {
			s.bereft = true
		}
	}
	c.holder = holder
}

// enters sees an actor enter with a lock that it wrote over another's, or that another sale of its process had, and passed along, or that
// was handed to its process.
func (c *Checker) enters(a *execution.Actor) {
	masters := c.x.Cluster.Masters()
	for _, s := range masters {
		if o := &c.owners[s.Index]; o.claimant == a.Index {
			*o = ownership{a.Index, nobody}
			c.count()
		}
	}
	if c.holder == nobody || c.sales[c.holder].actor.Process != a.Process || c.sales[c.holder].inside() {
		return
	}
	for _, s := range masters {
		if o := &c.owners[s.Index]; o.owner == c.holder {
			o.owner = a.Index
		}
	}
	c.holder = a.Index
}

// Holder is the index of the actor whose lock it is, below zero for nobody.
func (c *Checker) Holder() int { return c.holder }
