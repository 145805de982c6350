package checker

import (
	"fmt"
	"slices"
	"strconv"

	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
)

const nobody = -1

// ownership says whose the lock is on one server, by the index of an actor.
type ownership struct {
	owner    int
	claimant int // who wrote over the lock of somebody inside, and may believe that it owns it now

	counts bool // the key is a number that several count up and down: who writes it does not own it
}

func ownedBy(actor int) ownership { return ownership{owner: actor, claimant: nobody} }

// Changed implements execution.Checker.
func (c *Checker) Changed(s *simredis.Server, before *simredis.State, by *engine.Actor) {
	was, had := before.Key(lock.Key)
	is, has := s.Holds.Key(lock.Key)
	o, synced := &c.owners[s.Index], &c.synced[s.Index]
	if s.Replica != nil && *synced == nil { // it begins to lag
		known := *o
		*synced = &known
	}
	c.recordChange(before, s.Holds, by)
	if by != nil {
		c.enqueue(c.sales[by.Index])
	}
	ch := change{was, is, had, has}
	switch {
	case s.Replica == nil && *synced != nil: // it has just taken its master's place
		c.restore(o, **synced, ch)
		*synced = nil
	case by == nil:
		if !has {
			o.owner = nobody
		}
	case had != has || !ch.sameOwner() || was.TTL != is.TTL:
		c.recordWrite(by, o, ch)
	}
	c.count(by)
	c.seeNames(by)
	c.markContenders(by)
}

// change is the lock's key before and after a command.
type change struct {
	was, is  simredis.Key
	had, has bool
}

func (ch change) sameOwner() bool { return slices.Equal(ch.was.Values, ch.is.Values) }

// bounded reports whether a lock that had no expiry got one, and nothing else. That is no harm: it repairs what a dead holder left.
func (ch change) bounded() bool { return ch.has && ch.sameOwner() && ch.was.TTL == 0 && ch.is.TTL > 0 }

// deed returns the sentence for the change: who did it, and to whose lock.
func (ch change) deed() (english, chinese string) {
	switch {
	case !ch.has:
		return "%s removes %s's lock", "%s 删除了 %s 的锁"
	case ch.sameOwner() && 0 < ch.is.TTL && ch.is.TTL < ch.was.TTL:
		return "%s shortens %s's lock", "%s 缩短了 %s 的锁的过期时间"
	case ch.sameOwner():
		return "%s prolongs %s's lock", "%s 给 %s 的锁续期"
	default:
		return "%s overwrites %s's lock", "%s 覆盖了 %s 的锁"
	}
}

// counted reports whether a number has become the next one, or the one before. SET would have changed the expiry, too, if there is any.
func (ch change) counted() bool {
	if !ch.had || !ch.has || !ch.was.IsString() || !ch.is.IsString() || ch.was.TTL != ch.is.TTL {
		return false
	}
	was, err := strconv.ParseInt(ch.was.Values[0], 10, 64)
	is, wrong := strconv.ParseInt(ch.is.Values[0], 10, 64)
	return err == nil && wrong == nil && (is == was+1 || is == was-1)
}

// forget sees that nobody can tell whose the lock on a server is: others count in its key.
func (c *Checker) forget(o *ownership) {
	*o = ownership{nobody, nobody, true}
	c.holder, c.untellable = nobody, true
	for _, s := range c.sales {
		s.keyed, s.evident = false, false
	}
}

// isTakenBy reports whether the lock is the one's who wrote its key so. Of a hash, a list or a set, in which several may be, that is so if
// the key names it alone; who else has the lock is known once it enters.
func (c *Checker) isTakenBy(by *engine.Actor, k simredis.Key) bool {
	others := func(s *sale) bool { return s.actor.Process != by.Process && names(k, s.actor) }
	return k.IsString() || names(k, by) && !slices.ContainsFunc(c.sales, others)
}

// recordWrite sees that an actor changed the lock's key on a server.
func (c *Checker) recordWrite(by *engine.Actor, o *ownership, ch change) {
	if o.counts || o.owner != nobody && o.owner != by.Index && ch.counted() {
		c.forget(o)
		return
	}
	var owner *engine.Actor
	var stood, stands bool // the key named it, and does so still
	if o.owner != nobody {
		owner = c.sales[o.owner].actor
		stood, stands = names(ch.was, owner), names(ch.is, owner)
	}
	if stood && stands && !ch.sameOwner() && owner != by {
		return // somebody came to, or left, a list, a set or a hash of those who hold the lock, or wait for it
	}
	expels := stood && !stands && owner.Process != by.Process
	ours := by.Process.Owns(ch.was) && !expels
	stays := ch.had && ch.was.TTL == 0 // Redis would not have ended it
	over := stays && ch.has && !ch.sameOwner()
	ofNobody := o.owner == nobody || over && c.sales[o.owner].done() || stays && !ch.has && c.sales[o.owner].over()
	if ch.had && !ofNobody && o.owner != by.Index && !ours && !ch.bounded() {
		english, chinese := ch.deed()
		c.report(anomaly.ForeignRelease, english, chinese, by.Name, c.x.Actors()[o.owner].Name)
	}
	switch next := c.handed(ch.is, by); {
	case !ch.has:
		*o = ownedBy(nobody)
	case ours && next != nobody:
		*o = ownedBy(next)
	case owner == by && stood && !stands: // it has left a key that others are in
		*o = ownedBy(nobody)
	case over && o.owner != nobody && c.sales[o.owner].inside():
		o.claimant = by.Index
	case (!ch.had || !ch.sameOwner() && !ours) && c.isTakenBy(by, ch.is):
		*o = ownedBy(by.Index)
	}
}

// handed gives the one that an actor has made the lock over to. That is any who waits in the process that the key names first: enters sees
// which.
func (c *Checker) handed(to simredis.Key, by *engine.Actor) int {
	for _, text := range to.Values {
		if i := slices.IndexFunc(c.sales, func(s *sale) bool {
			return s.actor.Process != by.Process && s.waits && textNames(text, s.actor)
		}); i >= 0 {
			return i
		}
	}
	return nobody
}

// count sees whose the lock is: who owns it on most of the servers that it is on.
func (c *Checker) count(by *engine.Actor) {
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
	if holder != c.holder {
		c.transfer(holder, by)
	}
}

// transfer sees the lock become another's, or nobody's, by an actor's doing, or by itself.
func (c *Checker) transfer(holder int, by *engine.Actor) {
	if c.holder != nobody {
		s := c.sales[c.holder]
		given := by != nil && by.Process == s.actor.Process
		s.bereft = s.bereft || s.inside()
		s.recordLoss(given)
		if given {
			c.had[s.actor.Process] = false
		}
	}
	c.setHolder(holder)
}

// setHolder makes an actor the holder.
func (c *Checker) setHolder(holder int) {
	if c.holder = holder; holder == nobody {
		return
	}
	s := c.sales[holder]
	c.had[s.actor.Process] = true
	c.order.clock++
	s.since, s.lost = c.order.clock, false
}

// recordEntry sees an actor enter with a lock that it wrote over another's, or that another sale of its process had, and passed along, or
// that was handed to its process.
func (c *Checker) recordEntry(a *engine.Actor) {
	masters := c.x.Cluster.Masters()
	for _, s := range masters {
		if o := &c.owners[s.Index]; o.claimant == a.Index {
			*o = ownedBy(a.Index)
			c.count(a)
		}
	}
	if c.holder == nobody || c.holder == a.Index || c.sales[c.holder].actor.Process != a.Process || c.sales[c.holder].inside() {
		return
	}
	for _, s := range masters {
		if o := &c.owners[s.Index]; o.owner == c.holder {
			o.owner = a.Index
		}
	}
	c.setHolder(a.Index)
}

// Holder returns the index of the actor whose lock it is, below zero for nobody.
func (c *Checker) Holder() int { return c.holder }

// Owner returns the one whose lock is on a server, below zero for nobody.
func (c *Checker) Owner(server int) int { return c.owners[server].owner }

// restore sees whose the lock is on a server that has failed over: the one's who had it when the replica heard of it last. If the key is
// the same, or names the same process, the lock is still its owner's.
func (c *Checker) restore(o *ownership, synced ownership, ch change) {
	switch {
	case !ch.has:
		*o = ownedBy(nobody)
	case o.owner != nobody && (ch.sameOwner() || c.sales[o.owner].actor.Process.Owns(ch.is)):
	default:
		*o = synced
	}
}

// appendSynced writes whose the lock is for a server's replica, if that lags.
func (c *Checker) appendSynced(b []byte, server int, o engine.Order) []byte {
	if synced := c.synced[server]; synced != nil {
		b = fmt.Appendf(b, "|synced %d %d %t ", o.Place(synced.owner), o.Place(synced.claimant), synced.counts)
	}
	return b
}
