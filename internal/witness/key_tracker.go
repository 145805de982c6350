package witness

import (
	"slices"
	"strconv"
	"time"
)

// key is the lock's on one Redis, as it is followed from command to command. A command took effect at some moment between its two times: of
// those that may have been next, the one that was over first and fits what is so is taken. While none fits, they wait for one that does.
type key struct {
	account  *Account
	node     int
	segment  int
	pending  []*seen // in the order in which they were over
	last     *Holding
	held     bool             // the last holding goes on
	doubtful []Event          // commands that asked for the lock and got no reply
	freed    map[string]Event // by replica: its command that was held on its way arrived
	resent   map[string]bool  // replicas one of whose commands took effect twice
	lapsed   []*Holding       // that ended, and nobody said why
}

// place is where a lock is.
type place struct{ node, segment int }

func (a *Account) keyAt(at place) *key {
	if a.keys[at] == nil {
		a.keys[at] = &key{account: a, node: at.node, segment: at.segment, freed: map[string]Event{}, resent: map[string]bool{}}
	}
	return a.keys[at]
}

// keysOf returns those that an event may be about: what happens to a Redis happens to all on it.
func (a *Account) keysOf(event Event) (all []*key) {
	if event.Segment > 0 || event.Command != nil {
		return []*key{a.keyAt(place{event.Node, event.Segment})}
	}
	for segment := range a.segments + 1 {
		all = append(all, a.keyAt(place{event.Node, segment}))
	}
	return all
}

func (k *key) see(event *seen) {
	switch {
	case event.Kind == KindCommandResent:
		k.resent[event.Replica] = true
	case event.isOfKey():
		event.waits++
		k.pending = append(k.pending, event)
		if len(k.pending) == 1 || k.mayBeNext(event) { // otherwise it waits, as those before it do
			k.follow()
		}
	}
}

// isOfKey reports whether an event says something about the key.
func (e Event) isOfKey() bool {
	if e.Command != nil {
		return e.Command.Verb == Takes || e.Command.Verb == Renews || e.Command.Verb == Removes
	}
	return e.Kind == KindCommandReleased || e.forgets()
}

// follow applies the events that fit.
func (k *key) follow() {
	for len(k.pending) > 0 {
		i := slices.IndexFunc(k.pending, k.mayBeNext)
		if i < 0 {
			return
		}
		k.take(i)
	}
}

// mayBeNext reports whether an event fits, and was sent when the first of all was over.
func (k *key) mayBeNext(event *seen) bool {
	return !event.Sent.After(k.pending[0].Replied) && k.fits(&event.Event)
}

// settle applies events that do not fit, if it is too late for others to explain them.
func (k *key) settle(late func(time.Time) bool) {
	for len(k.pending) > 0 && late(k.pending[0].Replied) {
		k.take(0)
		k.follow()
	}
}

func (k *key) take(i int) {
	event := k.pending[i]
	event.waits--
	k.pending = slices.Delete(k.pending, i, i+1)
	k.apply(event.Event)
}

// holder is whose the lock is, at a moment; "" if it is nobody's.
func (k *key) holder() string {
	if !k.held {
		return ""
	}
	return k.last.Holder
}

func (k *key) fits(event *Event) bool {
	if event.Command == nil {
		return true
	}
	c := event.Command
	free := !k.held || k.last.expiredBy(event.Replied)
	switch {
	case c.Outcome == Unknown || c.Forced && c.Verb == Takes:
		return true
	case c.Verb == Takes && c.Outcome == Done, c.Outcome == ByNobody:
		return free
	case c.Outcome == NotOwner:
		return free || k.holder() != c.Holder
	case c.Outcome == ByOther || c.Verb == Takes && c.Outcome == Refused || c.Forced:
		return k.held
	default:
		return k.holder() == c.Holder
	}
}

func (k *key) apply(event Event) {
	c := event.Command
	switch {
	case event.Kind == KindCommandReleased:
		k.freed[event.Replica] = event
	case c == nil:
		k.forget(event)
	case c.Outcome == Unknown:
		if c.Verb == Takes {
			k.doubtful = latest(append(k.doubtful, event))
		}
	case c.Verb == Takes && c.Outcome == Done:
		k.obtain(event)
	case c.Verb == Takes && (c.Outcome == Again || c.Outcome == Refused):
		if !k.held {
			k.explain(event)
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
func (k *key) obtain(event Event) {
	c := event.Command
	if k.held && k.holder() != c.Holder {
		switch {
		case k.last.expiredBy(event.Replied):
			k.expire(event.Replied)
		case c.Forced:
			k.find(OverwroteLock, event)
			k.end(OverwrittenByOther, actor(event), event.Replied)
		default:
			k.end(Vanished, "", event.Replied)
		}
	}
	if k.held {
		k.set(c.TTL, event.Sent)
		return
	}
	k.begin(c.Holder, event.Replied, event.Sent, c.TTL)
}

func (k *key) begin(holder string, from, set time.Time, ttl Millis) {
	k.last, k.held = &Holding{Span: Span{From: from}, Holder: holder, TTL: ttl, set: set, Node: k.node, Segment: k.segment}, true
	k.account.addHolding(k.last)
}

func (k *key) set(ttl Millis, at time.Time) {
	k.last.TTL, k.last.set = ttl, at
	if k.node > 0 {
		k.account.renewPart(k.last)
	}
}

func (k *key) end(end HoldingEnd, by string, at time.Time) {
	k.last.End, k.last.EndedBy, k.last.To, k.held = end, by, at, false
	if end == Vanished {
		k.lapsed = latest(append(k.lapsed, k.last))
	}
	k.account.endHolding(k.last)
}

func (k *key) renew(event Event) {
	if !k.held {
		return
	}
	if k.holder() != event.Command.Holder {
		k.find(ProlongedLock, event)
	}
	k.set(event.Command.TTL, event.Sent)
}

func (k *key) remove(event Event) {
	switch {
	case k.holder() == event.Command.Holder && k.held:
		k.end(GivenBack, actor(event), event.Replied)
	case k.explains(event), !k.held:
	default:
		k.find(RemovedLock, event)
		k.end(RemovedByOther, actor(event), event.Replied)
	}
}

// explains reports whether a release whose reply came late is the end of a holding that nobody could explain.
func (k *key) explains(release Event) bool {
	if c := release.Command; c == nil || c.Verb != Removes || c.Outcome != Done && c.Outcome != Passed {
		return false
	}
	for _, h := range k.lapsed {
		if h.Holder == release.Command.Holder && h.End == Vanished && !release.Sent.After(h.To) {
			h.End, h.EndedBy = GivenBack, actor(release)
			return true
		}
	}
	return false
}

// expire ends a holding that is gone by then, though nobody has removed it.
func (k *key) expire(by time.Time) {
	switch {
	case !k.held:
	case k.last.expiredBy(by):
		k.end(Expired, "", k.last.ExpiryDeadline())
	default:
		k.end(Vanished, "", by)
	}
}

func (k *key) forget(event Event) {
	k.doubtful = nil
	switch {
	case !k.held:
	case k.last.expiredBy(event.Replied):
		k.expire(event.Replied)
	default:
		k.tell(Finding{Kind: RedisLostLock, At: event.Replied, Subject: redisName(k.node), Other: k.holder(), Node: k.node})
		k.end(LostByRedis, redisName(k.node), event.Replied)
	}
}

// explain begins the holding that somebody finds though nobody is known to have taken the lock: his own, if his client sent the command
// that took it twice, or that of a command without a reply.
func (k *key) explain(event Event) {
	c := event.Command
	if c.Outcome == Again || k.resent[event.Replica] {
		delete(k.resent, event.Replica)
		k.begin(c.Holder, event.Sent, event.Sent, c.TTL)
		return
	}
	for i, doubt := range k.doubtful {
		if doubt.Sent.Before(event.Replied) {
			from := later(doubt.Sent, k.freed[doubt.Replica].Replied)
			k.doubtful = slices.Delete(k.doubtful, i, i+1)
			k.begin(doubt.Command.Holder, from, from, doubt.Command.TTL)
			return
		}
	}
}

// find notes that an event does something to another's lock.
func (k *key) find(kind FindingKind, event Event) {
	k.tell(Finding{Kind: kind, At: event.Replied, Subject: actor(event), Other: k.holder()})
}

// tell tells what was found; of one of several masters it means nothing.
func (k *key) tell(f Finding) {
	if k.node == 0 {
		k.account.find(f)
	}
}

// actor is who sent a command.
func actor(event Event) string {
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
