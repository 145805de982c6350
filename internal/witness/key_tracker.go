package witness

import (
	"slices"
	"strconv"
	"time"
)

// key is the lock's on one Redis, as it is followed from command to command. A command took effect at some moment between its two times: of
// those that may have been next, the one that was over first and fits what is so is taken. While none fits, they wait for one that does.
type keyTracker struct {
	account          *Account
	node             int
	segment          int
	pending          []*pendingEvent // in the order in which they were over
	latest           *Holding
	isHeld           bool             // the last holding goes on
	unanswered       []Event          // commands that asked for the lock and got no reply
	releasedCommands map[string]Event // by replica: its command that was held on its way arrived
	resentBy         map[string]bool  // replicas one of whose commands took effect twice
	vanished         []*Holding       // that ended, and nobody said why
}

// place is where a lock is.
type keyLocation struct{ node, segment int }

func (a *Account) trackerAt(at keyLocation) *keyTracker {
	if a.trackers[at] == nil {
		a.trackers[at] = &keyTracker{account: a, node: at.node, segment: at.segment, releasedCommands: map[string]Event{}, resentBy: map[string]bool{}}
	}
	return a.trackers[at]
}

// keysOf returns those that an event may be about: what happens to a Redis happens to all on it.
func (a *Account) trackersOf(event Event) (all []*keyTracker) {
	if event.Segment > 0 || event.Command != nil {
		return []*keyTracker{a.trackerAt(keyLocation{event.Node, event.Segment})}
	}
	for segment := range a.maxSegment + 1 {
		all = append(all, a.trackerAt(keyLocation{event.Node, segment}))
	}
	return all
}

func (k *keyTracker) add(event *pendingEvent) {
	switch {
	case event.Kind == KindCommandResent:
		k.resentBy[event.Replica] = true
	case event.affectsLock():
		event.unresolvedKeys++
		k.pending = append(k.pending, event)
		if len(k.pending) == 1 || k.canBeNext(event) { // otherwise it waits, as those before it do
			k.applyFitting()
		}
	}
}

// isOfKey reports whether an event says something about the key.
func (e Event) affectsLock() bool {
	if e.Command != nil {
		return e.Command.Verb == Takes || e.Command.Verb == Renews || e.Command.Verb == Removes
	}
	return e.Kind == KindCommandReleased || e.isDataLoss()
}

// follow applies the events that fit.
func (k *keyTracker) applyFitting() {
	for len(k.pending) > 0 {
		i := slices.IndexFunc(k.pending, k.canBeNext)
		if i < 0 {
			return
		}
		k.applyPending(i)
	}
}

// mayBeNext reports whether an event fits, and was sent when the first of all was over.
func (k *keyTracker) canBeNext(event *pendingEvent) bool {
	return !event.Sent.After(k.pending[0].Replied) && k.fits(&event.Event)
}

// settle applies events that do not fit, if it is too late for others to explain them.
func (k *keyTracker) applyOverdue(late func(time.Time) bool) {
	for len(k.pending) > 0 && late(k.pending[0].Replied) {
		k.applyPending(0)
		k.applyFitting()
	}
}

func (k *keyTracker) applyPending(i int) {
	event := k.pending[i]
	event.unresolvedKeys--
	k.pending = slices.Delete(k.pending, i, i+1)
	k.apply(event.Event)
}

// holder is whose the lock is, at a moment; "" if it is nobody's.
func (k *keyTracker) holder() string {
	if !k.isHeld {
		return ""
	}
	return k.latest.Holder
}

func (k *keyTracker) fits(event *Event) bool {
	if event.Command == nil {
		return true
	}
	c := event.Command
	free := !k.isHeld || k.latest.isExpiredAt(event.Replied)
	switch {
	case c.Outcome == Unknown || c.Forced && c.Verb == Takes:
		return true
	case c.Verb == Takes && c.Outcome == Done, c.Outcome == ByNobody:
		return free
	case c.Outcome == NotOwner:
		return free || k.holder() != c.Holder
	case c.Outcome == ByOther || c.Verb == Takes && c.Outcome == Refused || c.Forced:
		return k.isHeld
	default:
		return k.holder() == c.Holder
	}
}

func (k *keyTracker) apply(event Event) {
	c := event.Command
	switch {
	case event.Kind == KindCommandReleased:
		k.releasedCommands[event.Replica] = event
	case c == nil:
		k.loseLock(event)
	case c.Outcome == Unknown:
		if c.Verb == Takes {
			k.unanswered = trimOldest(append(k.unanswered, event))
		}
	case c.Verb == Takes && c.Outcome == Done:
		k.obtain(event)
	case c.Verb == Takes && (c.Outcome == Again || c.Outcome == Refused):
		if !k.isHeld {
			k.inferHolding(event)
		}
	case c.Verb == Renews && c.Outcome == Done:
		k.renew(event)
	case c.Verb == Removes && (c.Outcome == Done || c.Outcome == Passed):
		k.remove(event)
	case c.Outcome == ByNobody, c.Outcome == NotOwner && k.holder() == c.Holder:
		k.expire(event.Replied)
	}
}

// obtain begins a holding, and ends the one before.
func (k *keyTracker) obtain(event Event) {
	c := event.Command
	if k.isHeld && k.holder() != c.Holder {
		switch {
		case k.latest.isExpiredAt(event.Replied):
			k.expire(event.Replied)
		case c.Forced:
			k.reportForeign(OverwroteLock, event)
			k.end(OverwrittenByOther, actorOf(event), event.Replied)
		default:
			k.end(Vanished, "", event.Replied)
		}
	}
	if k.isHeld {
		k.setExpiry(c.TTL, event.Sent)
		return
	}
	k.begin(c.Holder, event.Replied, event.Sent, c.TTL)
}

func (k *keyTracker) begin(holder string, from, set time.Time, ttl Millis) {
	k.latest, k.isHeld = &Holding{Span: Span{From: from}, Holder: holder, TTL: ttl, ttlSetAt: set, Node: k.node, Segment: k.segment}, true
	k.account.addHolding(k.latest)
}

func (k *keyTracker) setExpiry(ttl Millis, at time.Time) {
	k.latest.TTL, k.latest.ttlSetAt = ttl, at
	if k.node > 0 {
		k.account.renewMajority(k.latest)
	}
}

func (k *keyTracker) end(end HoldingEnd, by string, at time.Time) {
	k.latest.End, k.latest.EndedBy, k.latest.To, k.isHeld = end, by, at, false
	if end == Vanished {
		k.vanished = trimOldest(append(k.vanished, k.latest))
	}
	k.account.endHolding(k.latest)
}

func (k *keyTracker) renew(event Event) {
	if !k.isHeld {
		return
	}
	if k.holder() != event.Command.Holder {
		k.reportForeign(ProlongedLock, event)
	}
	k.setExpiry(event.Command.TTL, event.Sent)
}

func (k *keyTracker) remove(event Event) {
	switch {
	case k.holder() == event.Command.Holder && k.isHeld:
		k.end(GivenBack, actorOf(event), event.Replied)
	case k.claimVanished(event), !k.isHeld:
	default:
		k.reportForeign(RemovedLock, event)
		k.end(RemovedByOther, actorOf(event), event.Replied)
	}
}

// explains reports whether a release whose reply came late is the end of a holding that nobody could explain.
func (k *keyTracker) claimVanished(release Event) bool {
	if c := release.Command; c == nil || c.Verb != Removes || c.Outcome != Done && c.Outcome != Passed {
		return false
	}
	for _, h := range k.vanished {
		if h.Holder == release.Command.Holder && h.End == Vanished && !release.Sent.After(h.To) {
			h.End, h.EndedBy = GivenBack, actorOf(release)
			return true
		}
	}
	return false
}

// expire ends a holding that is gone by then, though nobody has removed it.
func (k *keyTracker) expire(by time.Time) {
	switch {
	case !k.isHeld:
	case k.latest.isExpiredAt(by):
		k.end(Expired, "", k.latest.ExpiryDeadline())
	default:
		k.end(Vanished, "", by)
	}
}

func (k *keyTracker) loseLock(event Event) {
	k.unanswered = nil
	switch {
	case !k.isHeld:
	case k.latest.isExpiredAt(event.Replied):
		k.expire(event.Replied)
	default:
		k.report(Finding{Kind: RedisLostLock, At: event.Replied, Subject: redisName(k.node), Other: k.holder(), Node: k.node})
		k.end(LostByRedis, redisName(k.node), event.Replied)
	}
}

// explain begins the holding that somebody finds though nobody is known to have taken the lock: his own, if his client sent the command
// that took it twice, or that of a command without a reply.
func (k *keyTracker) inferHolding(event Event) {
	c := event.Command
	if c.Outcome == Again || k.resentBy[event.Replica] {
		delete(k.resentBy, event.Replica)
		k.begin(c.Holder, event.Sent, event.Sent, c.TTL)
		return
	}
	for i, doubt := range k.unanswered {
		if doubt.Sent.Before(event.Replied) {
			from := later(doubt.Sent, k.releasedCommands[doubt.Replica].Replied)
			k.unanswered = slices.Delete(k.unanswered, i, i+1)
			k.begin(doubt.Command.Holder, from, from, doubt.Command.TTL)
			return
		}
	}
}

// find notes that an event does something to another's lock.
func (k *keyTracker) reportForeign(kind FindingKind, event Event) {
	k.report(Finding{Kind: kind, At: event.Replied, Subject: actorOf(event), Other: k.holder()})
}

// tell tells what was found; of one of several masters it means nothing.
func (k *keyTracker) report(f Finding) {
	if k.node == 0 {
		k.account.report(f)
	}
}

// actor is who sent a command.
func actorOf(event Event) string {
	if event.Sale != "" {
		return event.Sale
	}
	return event.Command.Holder
}

// redisName is a Redis's name in what is noted.
func redisName(node int) string {
	if node == 0 {
		return "Redis"
	}
	return "node " + strconv.Itoa(node)
}
