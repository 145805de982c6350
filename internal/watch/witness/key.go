package witness

import (
	"slices"
	"time"
)

// keyOf is the lock's key, as it is followed from command to command.
type keyOf struct {
	holdings []Holding
	held     bool                 // the last holding goes on
	doubtful []Event              // commands that asked for the lock and got no reply
	freed    map[string]time.Time // when a command of a replica that was held on its way arrived
	resent   map[string]bool      // replicas one of whose commands took effect twice
	early    *Event               // a replica was told that it has the lock, and the one before has not heard yet that it gave it back
	findings []Finding
}

// followed follows the lock's key through the commands, in an order that their replies allow: a command took effect at some moment between
// its two times. Of those whose time has come, the one that was over first and fits what is so is taken.
func followed(events []Event) *keyOf {
	key := &keyOf{freed: map[string]time.Time{}, resent: resentBy(events)}
	for pending := newPending(lockCommands(events)); pending.left > 0; {
		key.apply(pending.take(key.fits))
	}
	return key
}

// lockCommands are the events that say something about the key, in the order in which they were over.
func lockCommands(events []Event) []Event {
	var commands []Event
	for _, event := range events {
		switch {
		case event.Kind == KindObtains, event.Kind == KindFreed, event.forgets():
			commands = append(commands, event)
		case event.Kind != KindCommand:
		case event.Command.Verb == Takes || event.Command.Verb == Renews || event.Command.Verb == Removes:
			commands = append(commands, event)
		}
	}
	slices.SortStableFunc(commands, func(a, b Event) int { return a.Replied.Compare(b.Replied) })
	return commands
}

// holder is whose the lock is, at a moment; "" if it is nobody's.
func (k *keyOf) holder() string {
	if !k.held {
		return ""
	}
	return k.holdings[len(k.holdings)-1].Holder
}

func (k *keyOf) now() *Holding { return &k.holdings[len(k.holdings)-1] }

// fits reports whether an event can have come next.
func (k *keyOf) fits(event Event) bool {
	if event.Kind != KindCommand {
		return true
	}
	c, holder := event.Command, k.holder()
	free := !k.held || k.now().expiredBy(event.Replied)
	switch {
	case c.Outcome == Unknown || c.Forced && c.Verb == Takes:
		return true
	case c.Verb == Takes && c.Outcome == Done, c.Outcome == ByNobody:
		return free
	case c.Outcome == ByOther || c.Verb == Takes && c.Outcome == Refused:
		return k.held
	case c.Forced:
		return k.held
	default:
		return holder == c.Holder
	}
}

// apply lets an event have its effect.
func (k *keyOf) apply(event Event) {
	switch event.Kind {
	case KindObtains:
		k.handOver(event)
		return
	case KindFreed:
		k.freed[event.Replica] = event.Replied
		return
	case KindEmptied, KindCrashes, KindFailsOver:
		k.forget(event)
		return
	default:
	}
	c := event.Command
	switch {
	case c.Outcome == Unknown:
		if c.Verb == Takes {
			k.doubtful = append(k.doubtful, event)
		}
	case c.Verb == Takes && c.Outcome == Done:
		k.take(event)
	case c.Verb == Takes && c.Outcome == Again:
		k.again(event)
	case c.Verb == Takes && c.Outcome == Refused:
		k.refuse(event)
	case c.Verb == Renews && c.Outcome == Done:
		k.renew(event)
	case c.Verb == Removes && (c.Outcome == Done || c.Outcome == Passed):
		k.remove(event)
	case c.Outcome == ByNobody:
		k.expire(event.Replied)
	}
}

// take begins a holding, and ends the one before.
func (k *keyOf) take(event Event) {
	c := event.Command
	if k.held && k.holder() != c.Holder {
		switch {
		case k.now().expiredBy(event.Replied):
			k.expire(event.Replied)
		case c.Forced:
			k.find(Overwrote, event)
			k.end(Replaced, actor(event), event.Replied)
		default:
			k.end(Gone, "", event.Replied)
		}
	}
	if k.held {
		k.now().Lasts, k.now().set = c.TTL, event.Sent
		return
	}
	k.begin(c.Holder, event.Replied, event.Sent, c.TTL)
}

func (k *keyOf) begin(holder string, from, set time.Time, ttl Millis) {
	k.holdings = append(k.holdings, Holding{Holder: holder, From: from, Lasts: ttl, set: set})
	k.held = true
}

func (k *keyOf) renew(event Event) {
	if !k.held {
		return
	}
	if k.holder() != event.Command.Holder {
		k.find(Prolonged, event)
	}
	k.now().Lasts, k.now().set = event.Command.TTL, event.Sent
}

func (k *keyOf) remove(event Event) {
	switch {
	case !k.held:
	case k.holder() == event.Command.Holder:
		k.end(GivenBack, actor(event), event.Replied)
		if k.early != nil && event.Command.Outcome == Passed && !k.early.Replied.Before(event.Sent) {
			k.handOver(*k.early)
		}
		k.early = nil
	default:
		k.find(Removed, event)
		k.end(Taken, actor(event), event.Replied)
	}
}

// expire ends a holding that is gone by then, though nobody has removed it.
func (k *keyOf) expire(by time.Time) {
	if !k.held {
		return
	}
	if k.now().expiredBy(by) {
		k.end(Expired, "", k.now().set.Add(time.Duration(k.now().Lasts)))
		return
	}
	k.end(Gone, "", by)
}

// handOver begins the holding of a replica that was told by a message that it has the lock now.
func (k *keyOf) handOver(obtains Event) {
	if len(k.holdings) == 0 || obtains.Token == 0 || k.now().Holder == obtains.Sale {
		return
	}
	if k.held {
		if k.now().Holder != obtains.Replica {
			k.early = &obtains
		}
		return
	}
	before := k.now()
	if before.Holder == obtains.Replica {
		return // it goes on within its replica
	}
	k.begin(obtains.Replica, before.To, before.set, before.Lasts)
}

// forget ends a holding that a Redis knows nothing more of.
func (k *keyOf) forget(event Event) {
	k.doubtful = nil
	if !k.held {
		return
	}
	if k.now().expiredBy(event.Replied) {
		k.expire(event.Replied)
		return
	}
	k.findings = append(k.findings, Finding{Kind: Forgot, At: event.Replied, By: redisName(event.Node), Of: k.holder(), Node: event.Node})
	k.end(Forgotten, redisName(event.Node), event.Replied)
}

// refuse is for an attempt that found the lock held: by whoever asked, or perhaps by a command whose reply was lost.
func (k *keyOf) refuse(event Event) {
	if !k.held && !k.refusedByItself(event) {
		k.settleDoubt(event)
	}
}

// settleDoubt begins the holding of a command without a reply: somebody finds the lock held, and it can be nobody else's.
func (k *keyOf) settleDoubt(refused Event) {
	for i, doubt := range k.doubtful {
		if doubt.Sent.Before(refused.Replied) {
			from := doubt.Sent
			if freed := k.freed[doubt.Replica]; freed.After(from) {
				from = freed
			}
			k.begin(doubt.Command.Holder, from, from, doubt.Command.TTL)
			k.doubtful = append(k.doubtful[:i:i], k.doubtful[i+1:]...)
			return
		}
	}
}

func (k *keyOf) end(end End, by string, at time.Time) {
	h := k.now()
	h.End, h.By, h.To = end, by, at
	k.held = false
}

// find notes that an event does something to another's lock.
func (k *keyOf) find(kind FindingKind, event Event) {
	k.findings = append(k.findings, Finding{Kind: kind, At: event.Replied, By: actor(event), Of: k.holder()})
}

func (k *keyOf) found() []Finding { return k.findings }

// actor is who sent a command.
func actor(event Event) string {
	switch {
	case event.Sale != "":
		return event.Sale
	default:
		return event.Command.Holder
	}
}
