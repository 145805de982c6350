package judge

import (
	"regexp"
	"slices"
	"strconv"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore/simredis"
)

// nobody is the index that stands for no actor.
const nobody = -1

// ownership tells which actor owns the lock on one server. Both fields are actor indices.
type ownership struct {
	owner    int // actor that owns the lock on the server, or nobody
	claimant int // actor that overwrote the lock of a sale in the critical section, and becomes the owner if it enters; or nobody
}

// ownedBy returns the ownership of an actor, without a claimant.
func ownedBy(actor int) ownership { return ownership{owner: actor, claimant: nobody} }

// ownerTracker tracks which actor truly holds the lock.
type ownerTracker struct {
	*commonState
	servers  []ownership     // indexed by server
	replicas []*ownership    // ownership as the server's replica or snapshot knows it, indexed by server; nil: the same as the server's
	holder   int             // index of the true holder, or nobody
	heldBy   map[string]bool // processes that have been the holder and have not released the lock since
}

// newOwnerTracker returns a tracker of a lock that nobody holds.
func newOwnerTracker(st *commonState) *ownerTracker {
	servers := len(st.Driver.Contents())
	return &ownerTracker{
		commonState: st, holder: nobody, heldBy: map[string]bool{},
		servers: slices.Repeat([]ownership{ownedBy(nobody)}, servers), replicas: make([]*ownership, servers),
	}
}

// Change is a change of a server's contents.
type Change struct {
	Server        int             // index of the server
	Before, After *simredis.State // contents of the server

	// ReplicaLags reports whether the server's replica or snapshot no longer receives writes. When it becomes false again, the replica or
	// snapshot has taken the server's place.
	ReplicaLags bool
}

// RecordChange records a change of a server's contents, made by an actor's command. A negative actor stands for time or a fault.
func (j *Judge) RecordChange(change Change, by int) {
	var actor *Sale
	j.order.recordProcessChange(change, by)
	if by != nobody {
		actor = j.sales[by]
		j.RecordQueueing(by)
	}
	j.updateOwner(change, actor)
	j.reports.recordObstacles(actor)
}

// updateOwner updates the ownership on the changed server, and the holder.
func (t *ownerTracker) updateOwner(change Change, by *Sale) {
	before, existed := change.Before.Key(t.Key)
	after, exists := change.After.Key(t.Key)
	o, replica := &t.servers[change.Server], &t.replicas[change.Server]
	if change.ReplicaLags && *replica == nil {
		known := *o
		*replica = &known
	}
	ch := keyChange{before, after, existed, exists}
	switch {
	case !change.ReplicaLags && *replica != nil:
		t.restoreOwner(o, **replica, ch)
		*replica = nil
	case by == nil:
		if !exists {
			o.owner = nobody
		}
	case existed != exists || !ch.hasSameValues() || before.TTL != after.TTL:
		t.recordWrite(by, o, ch)
	}
	t.updateHolder(by)
}

// keyChange is the lock's key before and after a command.
type keyChange struct {
	oldKey, newKey  simredis.Key // zero if the server does not have the key
	existed, exists bool         // whether the server has oldKey, and newKey
}

// hasSameValues reports whether the key's values are the same as before.
func (ch keyChange) hasSameValues() bool { return slices.Equal(ch.oldKey.Values, ch.newKey.Values) }

// isExpiryAdded reports whether the only change is an expiry for a lock that had none.
func (ch keyChange) isExpiryAdded() bool {
	return ch.exists && ch.hasSameValues() && ch.oldKey.TTL == 0 && ch.newKey.TTL > 0
}

// isExpiryShortened reports whether the lock now expires sooner than before.
func (ch keyChange) isExpiryShortened() bool {
	return ch.existed && ch.exists && ch.newKey.TTL > 0 && (ch.oldKey.TTL == 0 || ch.newKey.TTL < ch.oldKey.TTL)
}

// symptom returns the symptom of this change if a sale makes it to the lock of another sale.
func (ch keyChange) symptom() Symptom {
	switch {
	case !ch.exists:
		return ForeignRemoval
	case ch.isExpiryAdded():
		return ForeignExpiry
	case ch.hasSameValues() && ch.isExpiryShortened():
		return ForeignShortening
	case ch.hasSameValues():
		return ForeignRenewal
	default:
		return ForeignOverwrite
	}
}

// isCounting reports whether the only difference is in numbers inside the value, each by at most one. Then several actors count in the key,
// and its value does not say which of them owns the lock.
func (ch keyChange) isCounting() bool {
	if !ch.existed || !ch.exists || !ch.oldKey.IsString() || !ch.newKey.IsString() || ch.oldKey.TTL != ch.newKey.TTL {
		return false
	}
	oldText, newText := ch.oldKey.FirstValue(), ch.newKey.FirstValue()
	oldNumbers, newNumbers := numbers.FindAllString(oldText, -1), numbers.FindAllString(newText, -1)
	if len(oldNumbers) != len(newNumbers) || numbers.ReplaceAllString(oldText, "") != numbers.ReplaceAllString(newText, "") {
		return false
	}
	for i := range oldNumbers {
		oldNumber, oldErr := strconv.ParseInt(oldNumbers[i], 10, 64)
		newNumber, newErr := strconv.ParseInt(newNumbers[i], 10, 64)
		if oldErr != nil || newErr != nil || newNumber < oldNumber-1 || newNumber > oldNumber+1 {
			return false
		}
	}
	return !ch.hasSameValues()
}

// numbers matches the numbers in a value that several actors may count.
var numbers = regexp.MustCompile(`\d+`)

// forgetOwner stops tracking who owns the lock on a server, because several actors count in its key.
func (t *ownerTracker) forgetOwner(o *ownership) {
	*o = ownedBy(nobody)
	t.holder = nobody
	t.excludeOwnership()
	for _, s := range t.sales {
		s.enteredAsHolder, s.holdingKnown = false, false
	}
}

// excludeOwnership stops judging the anomalies for which the owner of the lock must be known.
func (st *commonState) excludeOwnership() {
	st.ExcludeAnomalies(anomaly.ForeignRelease, anomaly.Untold, anomaly.FalseWord)
}

// isTakenBy reports whether an actor owns the lock because it wrote the lock's key. A hash, a list or a set may contain several actors. The
// writer owns it only if it names no other process. Any other holder of such a lock becomes known on entering the critical section.
func (t *ownerTracker) isTakenBy(by *Sale, k simredis.Key) bool {
	isNamedRival := func(s *Sale) bool { return s.Process != by.Process && t.keyMentions(k, s) }
	return k.IsString() || t.isUnattributed(k) || t.keyMentions(k, by) && !t.hasSale(isNamedRival)
}

// overwritesPermanent reports whether a lock without an expiry was overwritten.
func (ch keyChange) overwritesPermanent() bool {
	return ch.existed && ch.oldKey.TTL == 0 && ch.exists && !ch.hasSameValues()
}

// removesPermanent reports whether a lock without an expiry was removed.
func (ch keyChange) removesPermanent() bool { return ch.existed && ch.oldKey.TTL == 0 && !ch.exists }

// allows reports whether another sale may make this change to the lock of s. isShared reports whether the lock belongs to the other sale's
// process, which may then change the lock as long as the key remains. Outside the critical section of s, its process may also remove the
// lock, and others may set a missing expiry: they repair what a dead holder left, or what its holder is about to remove. A lock without an
// expiry, which Redis would keep forever, may be overwritten or removed once its owner has no further use for it.
func (s *Sale) allows(ch keyChange, isShared bool) bool {
	switch {
	case ch.overwritesPermanent() && s.isDoneWithLock(), ch.removesPermanent() && s.hasAbandonedLock(), isShared && ch.exists:
		return true
	default:
		return (isShared || ch.isExpiryAdded()) && !s.IsInCriticalSection()
	}
}

// recordWrite updates the ownership on a server after an actor has changed the lock's key there, and reports a change to a foreign lock.
func (t *ownerTracker) recordWrite(by *Sale, o *ownership, ch keyChange) {
	var owner *Sale
	var wasNamed, isNamed bool // whether the key named the owner before, and names it now
	if o.owner != nobody {
		owner = t.sales[o.owner]
		wasNamed, isNamed = t.keyMentions(ch.oldKey, owner), t.keyMentions(ch.newKey, owner)
	}
	switch {
	case owner == by:
	case t.Sender != nil && t.isPreserved(ch):
		return // a waiter has added itself to the key, or removed itself
	case t.Sender != nil:
	case ch.isCounting():
		t.forgetOwner(o)
		return
	case wasNamed && isNamed && !ch.hasSameValues():
		return // somebody has joined or left a list, a set or a hash of holders or waiters
	}
	isExpelled := wasNamed && !isNamed && owner.Process != by.Process
	isShared := t.isHeldByProcess(by.Process, ch.oldKey) && !isExpelled
	if ch.existed && owner != nil && owner != by && !owner.allows(ch, isShared) {
		t.reportForeignChange(by, owner, ch)
	}
	if owner == by && by.unlocking {
		by.leftToExpire = ch.isExpiryShortened()
	}
	successor := t.successor(ch.newKey, by)
	switch {
	case !ch.exists:
		*o = ownedBy(nobody)
	case isShared && successor != nobody:
		*o = ownedBy(successor)
	case owner == by && wasNamed && !isNamed: // the owner has left a key that still names others
		*o = ownedBy(nobody)
	case ch.overwritesPermanent() && owner != nil && owner.IsInCriticalSection():
		o.claimant = by.index
	case (!ch.existed || !ch.hasSameValues() && !isShared) && t.isTakenBy(by, ch.newKey):
		*o = ownedBy(by.index)
	}
}

// isPreserved reports whether the key still holds all its former values, in the same order, and its expiry: waiters may have added their
// names to it. A counter that grew by one, or shrank by one but not to zero, counts as preserved.
func (t *ownerTracker) isPreserved(ch keyChange) bool {
	if !ch.existed || !ch.exists || ch.oldKey.TTL != ch.newKey.TTL {
		return false
	}
	if ch.oldKey.IsString() {
		return t.isUnattributed(ch.newKey) && ch.isCounting() && ch.newKey.FirstValue() != "0"
	}
	missing := ch.oldKey.Values
	for _, value := range ch.newKey.Values {
		if len(missing) > 0 && missing[0] == value {
			missing = missing[1:]
		}
	}
	return len(missing) == 0
}

// reportForeignChange reports that a sale changes the lock of another sale. With a Sender, it does so only if another process makes the
// change while an actor of the owner's process believes that it holds the lock. Overwriting one unattributed value by another may then be
// right or wrong.
func (t *ownerTracker) reportForeignChange(by, owner *Sale, ch keyChange) {
	isBeliever := func(s *Sale) bool { return s.Process == owner.Process && s.IsInCriticalSection() }
	switch {
	case t.Sender != nil && (owner.Process == by.Process || !t.hasSale(isBeliever)):
	case ch.symptom() == ForeignOverwrite && t.isUnattributed(ch.oldKey) && t.isUnattributed(ch.newKey):
		t.Report(anomaly.Unattributed, UnattributedOverwrite, by.Name, owner.Name, ch.oldKey.Values, ch.newKey.Values)
	default:
		t.Report(anomaly.ForeignRelease, ch.symptom(), by.Name, owner.Name)
	}
}

// successor returns the actor to which by has handed the lock over, or nobody: a waiting actor of the first other process that the key
// names. Which waiter of that process really gets the lock becomes known when one enters.
func (t *ownerTracker) successor(to simredis.Key, by *Sale) int {
	for _, text := range to.Values {
		if i := slices.IndexFunc(t.sales, func(s *Sale) bool {
			return s.Process != by.Process && s.waiting && t.textMentions(text, s)
		}); i >= 0 {
			return i
		}
	}
	return nobody
}

// updateHolder recomputes the holder: the actor that owns the lock on a majority of the servers that it is on.
func (t *ownerTracker) updateHolder(by *Sale) {
	holder, servers := nobody, t.lockOwnerships()
	for i := range t.sales {
		owned := 0
		for _, o := range servers {
			if o.owner == i {
				owned++
			}
		}
		if owned > len(servers)/2 {
			holder = i
		}
	}
	if holder != t.holder {
		t.transferHolder(holder, by)
	}
}

// lockOwnerships returns the ownership on each server that the lock is on.
func (t *ownerTracker) lockOwnerships() []ownership {
	if t.OnNodes {
		return t.servers[1:]
	}
	return t.servers
}

// transferHolder replaces the holder. by is the actor that made the change; nil: time or a fault.
func (t *ownerTracker) transferHolder(holder int, by *Sale) {
	if t.holder != nobody {
		s := t.sales[t.holder]
		byOwnProcess := by != nil && by.Process == s.Process
		s.lostBeforeUnlock = s.lostBeforeUnlock || s.IsInCriticalSection()
		s.recordEnd(byOwnProcess)
		s.leftToExpire = false
		if byOwnProcess {
			t.heldBy[s.Process] = false
		}
	}
	t.setHolder(holder)
}

// setHolder makes an actor, or nobody, the holder.
func (t *ownerTracker) setHolder(holder int) {
	t.holder = holder
	if holder == nobody {
		return
	}
	s := t.sales[holder]
	t.heldBy[s.Process] = true
	t.clock++
	s.holderSince = t.clock
	s.lostLock = false
}

// adoptLock makes an entering sale the owner of a lock that it overwrote, that another sale of its process passed on to it, or that was
// handed over to its process.
func (t *ownerTracker) adoptLock(s *Sale) {
	servers := t.lockOwnerships()
	for i := range servers {
		if o := &servers[i]; o.claimant == s.index {
			*o = ownedBy(s.index)
			t.updateHolder(s)
		}
	}
	if t.holder == nobody || t.holder == s.index || t.sales[t.holder].Process != s.Process || t.sales[t.holder].IsInCriticalSection() {
		return
	}
	for i := range servers {
		if o := &servers[i]; o.owner == t.holder {
			o.owner = s.index
		}
	}
	t.setHolder(s.index)
}

// Holder returns the index of the true holder, or a negative number if nobody holds the lock.
func (t *ownerTracker) Holder() int { return t.holder }

// Owner returns the index of the actor that owns the lock on a server, or a negative number if nobody does.
func (t *ownerTracker) Owner(server int) int { return t.servers[server].owner }

// restoreOwner sets the ownership on a server whose place was taken by its replica or snapshot. The owner is that of the last write that
// reached the replica or snapshot. If the key is the same, or still belongs to the present owner's process, the owner remains.
func (t *ownerTracker) restoreOwner(o *ownership, replica ownership, ch keyChange) {
	switch {
	case !ch.exists:
		*o = ownedBy(nobody)
	case o.owner != nobody && (ch.hasSameValues() || t.isHeldByProcess(t.sales[o.owner].Process, ch.newKey)):
	default:
		*o = replica
	}
}

// AppendServer appends the ownership on a server, and that of its lagging replica, to b as input for a state hash.
func (t *ownerTracker) AppendServer(b []byte, server int, order ActorOrder) []byte {
	for i, o := range []*ownership{&t.servers[server], t.replicas[server]} {
		if o != nil {
			for _, n := range [...]int{i, order.label(o.owner), order.label(o.claimant)} {
				b = append(strconv.AppendInt(b, int64(n), 10), ' ')
			}
		}
	}
	return b
}
