package judge

import (
	"regexp"
	"slices"
	"strconv"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore/simredis"
)

// nobody is the index of no actor.
const nobody = -1

// ownership says whose the lock is on one server, by the index of an actor.
type ownership struct {
	owner    int
	claimant int // who wrote over the lock of somebody inside, and may believe that it owns it now
}

func ownedBy(actor int) ownership { return ownership{owner: actor, claimant: nobody} }

// owners says whose the lock is.
type owners struct {
	*scene
	on     []ownership     // each server
	synced []*ownership    // and on its replica, if that lags
	holder int             // index of the actor whose lock it is
	had    map[string]bool // a process was a holder, and has not given the lock back since
}

func newOwners(s *scene) *owners {
	servers := len(s.Driver.Contents())
	return &owners{
		scene: s, holder: nobody, had: map[string]bool{},
		on: slices.Repeat([]ownership{ownedBy(nobody)}, servers), synced: make([]*ownership, servers),
	}
}

// Change is that a server holds something else than before.
type Change struct {
	Server        int
	Before, After *simredis.State
	Lags          bool // from then on, a replica or a snapshot of it gets nothing more. If it did, and does not, that has taken its place
}

// Change sees what an actor's command did, or, if that is below zero, time or a fault.
func (c *Judge) Change(what Change, by int) {
	var actor *Sale
	c.order.recordChange(what, by)
	if by != nobody {
		actor = c.sales[by]
		c.Queue(by)
	}
	c.changeOwner(what, actor)
	c.words.meet(actor)
}

func (c *owners) changeOwner(what Change, by *Sale) {
	was, had := what.Before.Key(c.Key)
	is, has := what.After.Key(c.Key)
	o, synced := &c.on[what.Server], &c.synced[what.Server]
	if what.Lags && *synced == nil {
		known := *o
		*synced = &known
	}
	ch := change{was, is, had, has}
	switch {
	case !what.Lags && *synced != nil:
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
}

// change is the lock's key before and after a command.
type change struct {
	was, is  simredis.Key
	had, has bool
}

func (ch change) sameOwner() bool { return slices.Equal(ch.was.Values, ch.is.Values) }

// bounded reports whether a lock that had no expiry got one, and nothing else.
func (ch change) bounded() bool { return ch.has && ch.sameOwner() && ch.was.TTL == 0 && ch.is.TTL > 0 }

// hastened reports whether a lock ends sooner than it would have.
func (ch change) hastened() bool {
	return ch.had && ch.has && ch.is.TTL > 0 && (ch.was.TTL == 0 || ch.is.TTL < ch.was.TTL)
}

// deed returns what the change does to another one's lock.
func (ch change) deed() How {
	switch {
	case !ch.has:
		return Removes
	case ch.bounded():
		return LimitsExpiry
	case ch.sameOwner() && ch.hastened():
		return Shortens
	case ch.sameOwner():
		return Prolongs
	default:
		return Overwrites
	}
}

// counts reports whether nothing but numbers in the value have changed, each by one at most: several count in the key, and nothing there
// says whose the lock is.
func (ch change) counts() bool {
	if !ch.had || !ch.has || !ch.was.IsString() || !ch.is.IsString() || ch.was.TTL != ch.is.TTL {
		return false
	}
	oldNumbers, newNumbers := numbers.FindAllString(ch.was.FirstValue(), -1), numbers.FindAllString(ch.is.FirstValue(), -1)
	if len(oldNumbers) != len(newNumbers) || numbers.ReplaceAllString(ch.was.FirstValue(), "") != numbers.ReplaceAllString(ch.is.FirstValue(), "") {
		return false
	}
	for i := range oldNumbers {
		before, err := strconv.ParseInt(oldNumbers[i], 10, 64)
		after, wrong := strconv.ParseInt(newNumbers[i], 10, 64)
		if err != nil || wrong != nil || after < before-1 || after > before+1 {
			return false
		}
	}
	return !ch.sameOwner()
}

// numbers are what several may count in a value.
var numbers = regexp.MustCompile(`\d+`)

// forget sees that nobody can tell whose the lock on a server is: others count in its key.
func (c *owners) forget(o *ownership) {
	*o = ownedBy(nobody)
	c.holder = nobody
	c.unjudgeOwners()
	for _, s := range c.sales {
		s.keyed, s.evident = false, false
	}
}

// unjudgeOwners sees that nothing in Redis says of a sale whether the lock is still its own.
func (c *scene) unjudgeOwners() { c.Unjudge(anomaly.ForeignRelease, anomaly.Untold, anomaly.FalseWord) }

// isTakenBy reports whether the lock is the one's who wrote its key so. Of a hash, a list or a set, in which several may be, that is so if
// the key names it alone; who else has the lock is known once it enters.
func (c *owners) isTakenBy(by *Sale, k simredis.Key) bool {
	others := func(s *Sale) bool { return s.Process != by.Process && c.names(k, s) }
	return k.IsString() || c.isUnnamed(k) || c.names(k, by) && !c.any(others)
}

// overwrites reports whether a lock was written over that Redis would not have ended.
func (ch change) overwrites() bool { return ch.had && ch.was.TTL == 0 && ch.has && !ch.sameOwner() }

// removes reports whether a lock was removed that Redis would not have ended.
func (ch change) removes() bool { return ch.had && ch.was.TTL == 0 && !ch.has }

// allows reports whether another one may do this to a sale's lock. What is its process's it may change as long as it leaves it there; and
// it may repair what a dead holder left, or one that is about to do so itself. A lock without an expiry, which Redis would not end, it may
// remove once its owner has no use for it.
func (s *Sale) allows(ch change, ours bool) bool {
	switch {
	case ch.overwrites() && s.done(), ch.removes() && s.isOver(), ours && ch.has:
		return true
	default:
		return (ours || ch.bounded()) && !s.IsInside()
	}
}

// recordWrite sees that an actor changed the lock's key on a server.
func (c *owners) recordWrite(by *Sale, o *ownership, ch change) {
	var owner *Sale
	var stood, stands bool // the key named it, and does so still
	if o.owner != nobody {
		owner = c.sales[o.owner]
		stood, stands = c.names(ch.was, owner), c.names(ch.is, owner)
	}
	switch {
	case owner == by:
	case c.Sender != nil && c.isPreserved(ch):
		return // somebody asks, or asks no more
	case c.Sender != nil:
	case ch.counts():
		c.forget(o)
		return
	case stood && stands && !ch.sameOwner():
		return // somebody came to, or left, a list, a set or a hash of those who hold the lock, or wait for it
	}
	expels := stood && !stands && owner.Process != by.Process
	ours := c.ownsProcess(by.Process, ch.was) && !expels
	if ch.had && owner != nil && owner != by && !owner.allows(ch, ours) {
		c.charge(by, owner, ch)
	}
	if owner == by && by.leaves {
		by.keeps = ch.hastened()
	}
	switch next := c.handed(ch.is, by); {
	case !ch.has:
		*o = ownedBy(nobody)
	case ours && next != nobody:
		*o = ownedBy(next)
	case owner == by && stood && !stands: // it has left a key that others are in
		*o = ownedBy(nobody)
	case ch.overwrites() && owner != nil && owner.IsInside():
		o.claimant = by.index
	case (!ch.had || !ch.sameOwner() && !ours) && c.isTakenBy(by, ch.is):
		*o = ownedBy(by.index)
	}
}

// isPreserved reports whether what a key held is there as before, in its order, and for as long: others may have added to it, as waiters
// do who enter themselves. A counter that has grown by one, or shrunk by one and not to zero, holds what it held.
func (c *owners) isPreserved(ch change) bool {
	if !ch.had || !ch.has || ch.was.TTL != ch.is.TTL {
		return false
	}
	if ch.was.IsString() {
		return c.isUnnamed(ch.is) && ch.counts() && ch.is.FirstValue() != "0"
	}
	left := ch.was.Values
	for _, value := range ch.is.Values {
		if len(left) > 0 && left[0] == value {
			left = left[1:]
		}
	}
	return len(left) == 0
}

// charge takes down what one does to another one's lock. With a Sender that takes another process, of which somebody believes that it holds
// the lock; and to write over a value by another one may be right, if neither says whose it is.
func (c *owners) charge(by, owner *Sale, ch change) {
	believes := func(s *Sale) bool { return s.Process == owner.Process && s.IsInside() }
	switch {
	case c.Sender != nil && (owner.Process == by.Process || !c.any(believes)):
	case ch.deed() == Overwrites && c.isUnnamed(ch.was) && c.isUnnamed(ch.is):
		c.Report(anomaly.Unattributed, Rewrites, by.Name, owner.Name, ch.was.Values, ch.is.Values)
	default:
		c.Report(anomaly.ForeignRelease, ch.deed(), by.Name, owner.Name)
	}
}

// handed gives the one that an actor has made the lock over to. That is any who waits in the process that the key names first: enters sees
// which.
func (c *owners) handed(to simredis.Key, by *Sale) int {
	for _, text := range to.Values {
		if i := slices.IndexFunc(c.sales, func(s *Sale) bool {
			return s.Process != by.Process && s.waits && c.textNames(text, s)
		}); i >= 0 {
			return i
		}
	}
	return nobody
}

// count sees whose the lock is: who owns it on most of the servers that it is on.
func (c *owners) count(by *Sale) {
	holder, masters := nobody, c.onMasters()
	for i := range c.sales {
		n := 0
		for _, o := range masters {
			if o.owner == i {
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

// onMasters returns whose the lock is on each of the servers that it is on.
func (c *owners) onMasters() []ownership {
	if c.OnNodes {
		return c.on[1:]
	}
	return c.on
}

// transfer sees the lock become another's, or nobody's, by an actor's doing, or by itself.
func (c *owners) transfer(holder int, by *Sale) {
	if c.holder != nobody {
		s := c.sales[c.holder]
		given := by != nil && by.Process == s.Process
		s.bereft = s.bereft || s.IsInside()
		s.recordLoss(given)
		s.keeps = false
		if given {
			c.had[s.Process] = false
		}
	}
	c.setHolder(holder)
}

// setHolder makes an actor the holder.
func (c *owners) setHolder(holder int) {
	if c.holder = holder; holder == nobody {
		return
	}
	s := c.sales[holder]
	c.had[s.Process] = true
	c.clock++
	s.since, s.lost = c.clock, false
}

// recordEntry sees an actor enter with a lock that it wrote over another's, or that another sale of its process had, and passed along, or
// that was handed to its process.
func (c *owners) recordEntry(s *Sale) {
	masters := c.onMasters()
	for i := range masters {
		if o := &masters[i]; o.claimant == s.index {
			*o = ownedBy(s.index)
			c.count(s)
		}
	}
	if c.holder == nobody || c.holder == s.index || c.sales[c.holder].Process != s.Process || c.sales[c.holder].IsInside() {
		return
	}
	for i := range masters {
		if o := &masters[i]; o.owner == c.holder {
			o.owner = s.index
		}
	}
	c.setHolder(s.index)
}

// Holder returns the index of the actor whose lock it is, below zero for nobody.
func (c *owners) Holder() int { return c.holder }

// Owner returns the one whose lock is on a server, below zero for nobody.
func (c *owners) Owner(server int) int { return c.on[server].owner }

// restore sees whose the lock is on a server that has failed over: the one's who had it when the replica heard of it last. If the key is
// the same, or names the same process, the lock is still its owner's.
func (c *owners) restore(o *ownership, synced ownership, ch change) {
	switch {
	case !ch.has:
		*o = ownedBy(nobody)
	case o.owner != nobody && (ch.sameOwner() || c.ownsProcess(c.sales[o.owner].Process, ch.is)):
	default:
		*o = synced
	}
}

// AppendServer writes whose the lock is on a server, and for its replica, if that lags.
func (c *owners) AppendServer(b []byte, server int, o Order) []byte {
	for i, is := range []*ownership{&c.on[server], c.synced[server]} {
		if is != nil {
			for _, n := range [...]int{i, o.place(is.owner), o.place(is.claimant)} {
				b = append(strconv.AppendInt(b, int64(n), 10), ' ')
			}
		}
	}
	return b
}
