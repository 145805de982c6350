package witness

import (
	"slices"
	"strconv"
	"time"
)

// keyTracker follows the lock's key on one Redis from command to command. A command took effect at some moment between Sent and Replied. Of
// the commands that may have been next and fit the known state, the tracker applies the one that ended first. If no command fits, they all
// wait for an event after which one fits.
type keyTracker struct {
	account          *Account         // account that gets the holdings and findings
	node             int              // 1-based Redlock master that has the key; 0: the Redis with the stock
	segment          int              // 1-based stock segment that the lock guards; 0: the whole stock
	pending          []*pendingEvent  // events not applied yet, in the order of Replied
	latest           *Holding         // latest holding; nil: none yet
	isHeld           bool             // latest has not ended
	unanswered       []Event          // commands that asked for the lock and have no reply
	releasedCommands map[string]Event // latest KindCommandReleased event, by replica
	resentBy         map[string]bool  // replicas whose client has sent a command twice, until an event is explained by that
	vanished         []*Holding       // holdings that ended without a known cause
}

// keyLocation is the location of a key of the lock: a node and a segment, as in keyTracker.
type keyLocation struct{ node, segment int }

// trackerAt returns the tracker of a key, and creates it if necessary.
func (a *Account) trackerAt(at keyLocation) *keyTracker {
	if a.trackers[at] == nil {
		a.trackers[at] = &keyTracker{
			account: a, node: at.node, segment: at.segment, releasedCommands: map[string]Event{}, resentBy: map[string]bool{},
		}
	}
	return a.trackers[at]
}

// trackersOf returns the trackers of the keys that an event may concern. An event of a Redis concerns all keys there.
func (a *Account) trackersOf(event Event) (all []*keyTracker) {
	if event.Segment > 0 || event.Command != nil {
		return []*keyTracker{a.trackerAt(keyLocation{event.Node, event.Segment})}
	}
	for segment := range a.maxSegment + 1 {
		all = append(all, a.trackerAt(keyLocation{event.Node, segment}))
	}
	return all
}

// add records an event, and applies the events that fit.
func (k *keyTracker) add(event *pendingEvent) {
	switch {
	case event.Kind == KindCommandResent:
		k.resentBy[event.Replica] = true
	case event.affectsLock():
		event.unresolvedKeys++
		k.pending = append(k.pending, event)
		if len(k.pending) == 1 || k.canBeNext(event) { // An event that does not fit waits, like those before it.
			k.applyFitting()
		}
	}
}

// affectsLock reports whether an event may have changed the lock's key, or may show its state.
func (e Event) affectsLock() bool {
	if e.Command != nil {
		return e.Command.Verb == Takes || e.Command.Verb == Renews || e.Command.Verb == Removes
	}
	return e.Kind == KindCommandReleased || e.isDataLoss()
}

// applyFitting applies pending events as long as one fits.
func (k *keyTracker) applyFitting() {
	for len(k.pending) > 0 {
		i := slices.IndexFunc(k.pending, k.canBeNext)
		if i < 0 {
			return
		}
		k.applyPending(i)
	}
}

// canBeNext reports whether an event fits, and was sent before the first pending event ended.
func (k *keyTracker) canBeNext(event *pendingEvent) bool {
	return !event.Sent.After(k.pending[0].Replied) && k.fits(&event.Event)
}

// applyOverdue applies events that do not fit, if they are too old for others to explain them.
func (k *keyTracker) applyOverdue(isOverdue func(replied time.Time) bool) {
	for len(k.pending) > 0 && isOverdue(k.pending[0].Replied) {
		k.applyPending(0)
		k.applyFitting()
	}
}

// applyPending removes a pending event, and applies it.
func (k *keyTracker) applyPending(i int) {
	event := k.pending[i]
	event.unresolvedKeys--
	k.pending = slices.Delete(k.pending, i, i+1)
	k.apply(event.Event)
}

// holder returns the present holder; empty if the lock is free.
func (k *keyTracker) holder() string {
	if !k.isHeld {
		return ""
	}
	return k.latest.Holder
}

// fits reports whether a command could have had its outcome in the known state.
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

// apply updates the known state by an event.
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

// begin starts a holding at from. Its expiry was set at ttlSetAt.
func (k *keyTracker) begin(holder string, from, ttlSetAt time.Time, ttl Millis) {
	k.latest, k.isHeld = &Holding{Span: Span{From: from}, Holder: holder, TTL: ttl, ttlSetAt: ttlSetAt, Node: k.node, Segment: k.segment}, true
	k.account.addHolding(k.latest)
}

// setExpiry records that the expiry of the present holding was set.
func (k *keyTracker) setExpiry(ttl Millis, at time.Time) {
	k.latest.TTL, k.latest.ttlSetAt = ttl, at
	if k.node > 0 {
		k.account.renewMajority(k.latest)
	}
}

// end ends the present holding.
func (k *keyTracker) end(end HoldingEnd, by string, at time.Time) {
	k.latest.End, k.latest.EndedBy, k.latest.To, k.isHeld = end, by, at, false
	if end == Vanished {
		k.vanished = trimOldest(append(k.vanished, k.latest))
	}
	k.account.endHolding(k.latest)
}

// renew applies a successful renewal, which may be another owner's.
func (k *keyTracker) renew(event Event) {
	if !k.isHeld {
		return
	}
	if k.holder() != event.Command.Holder {
		k.reportForeign(ExtendedLock, event)
	}
	k.setExpiry(event.Command.TTL, event.Sent)
}

// remove applies a successful removal, which may be another owner's.
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

// claimVanished looks for the vanished holding that a release with a late reply ended, and records the release as the cause. It reports
// whether there was such a holding.
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

// expire ends a holding that had ended by a time, although no command removed the lock.
func (k *keyTracker) expire(at time.Time) {
	switch {
	case !k.isHeld:
	case k.latest.isExpiredAt(at):
		k.end(Expired, "", k.latest.ExpiryDeadline())
	default:
		k.end(Vanished, "", at)
	}
}

// loseLock ends the holding because Redis lost its data.
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

// inferHolding begins a holding that no known command began, because a command found the lock held. The holder is the sender of the command
// if its client sent the command twice, and otherwise the sender of a command without a reply.
func (k *keyTracker) inferHolding(event Event) {
	c := event.Command
	if c.Outcome == Again || k.resentBy[event.Replica] {
		delete(k.resentBy, event.Replica)
		k.begin(c.Holder, event.Sent, event.Sent, c.TTL)
		return
	}
	for i, doubt := range k.unanswered {
		if doubt.Sent.Before(event.Replied) {
			from := laterOf(doubt.Sent, k.releasedCommands[doubt.Replica].Replied)
			k.unanswered = slices.Delete(k.unanswered, i, i+1)
			k.begin(doubt.Command.Holder, from, from, doubt.Command.TTL)
			return
		}
	}
}

// reportForeign reports that an event affected another owner's lock.
func (k *keyTracker) reportForeign(kind FindingKind, event Event) {
	k.report(Finding{Kind: kind, At: event.Replied, Subject: actorOf(event), Other: k.holder()})
}

// report reports a finding, unless the key is on a Redlock master, because only a majority counts there.
func (k *keyTracker) report(f Finding) {
	if k.node == 0 {
		k.account.report(f)
	}
}

// actorOf returns the sale or the replica that sent a command.
func actorOf(event Event) string {
	if event.Sale != "" {
		return event.Sale
	}
	return event.Command.Holder
}

// redisName returns the name of a Redis in findings.
func redisName(node int) string {
	if node == 0 {
		return "Redis"
	}
	return "node " + strconv.Itoa(node)
}
