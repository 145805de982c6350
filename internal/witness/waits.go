package witness

import (
	"slices"
	"time"
)

// manyOvertakes is how often a sale may be overtaken before it is worth a sentence: once, as in the explorer.
const maxUnreportedOvertakes = 1

// endNestedWait ends a nested call's wait for the lock, which its own sale has.
func (s *Sale) endNestedWait(at time.Time) []Finding {
	if s.nestedWaitSince.IsZero() {
		return nil
	}
	f := Finding{Kind: WaitsForItself, At: at, Subject: s.Name, Duration: Millis(at.Sub(s.nestedWaitSince))}
	s.nestedWaitSince = time.Time{}
	return []Finding{f}
}

// recordWait finds that a sale waited for long, and behind whom: perhaps for a lock that it had itself, without knowing. And that it asked
// again and again; of several masters, the one that was asked most often counts.
func (a *Account) recordWait(s *Sale, event Event) {
	n := 0
	for _, times := range s.attempts {
		n = max(n, times)
	}
	if n > maxUnreportedAttempts {
		a.report(Finding{Kind: PolledOften, At: event.Replied, Subject: s.Name, Count: n})
	}
	asking := s.waitingSince
	s.waitingSince, s.attempts = time.Time{}, nil
	if asking.IsZero() || event.Replied.Sub(asking) < reportedWait {
		return
	}
	f := Finding{Kind: WaitedLong, At: event.Replied, Subject: s.Name, Duration: Millis(event.Replied.Sub(asking))}
	f.Other = holderAt(a.Holdings, s.Segment, asking, event.Replied)
	switch {
	case f.Other == s.Name && event.Kind == KindEnds && s.ObtainedAt.IsZero():
		f.Kind, f.Other = WaitsForItself, ""
	case f.Other == "" || isHeldBy(f.Other, s.Name):
		return
	case event.Kind == KindEnds:
		f.Kind = WaitedInVain
	}
	a.report(f)
}

// holderAt gives who held the lock of a segment first in that time, "" if nobody did.
func holderAt(holdings []*Holding, segment int, from, to time.Time) string {
	for _, h := range holdings {
		if h.Segment == segment && h.From.Before(to) && (h.End == Ongoing || h.To.After(from)) {
			return h.Holder
		}
	}
	return ""
}

// wasOvertaken finds that a sale waits, or did until now, while others obtained the lock that had asked after it.
func (s *Sale) findOvertaken(now time.Time) []Finding {
	if s.overtakenCount <= maxUnreportedOvertakes || !s.IsWaiting() {
		return nil
	}
	return []Finding{{Kind: Overtaken, At: now, Subject: s.Name, Count: s.overtakenCount}}
}

func (a *Account) recordCommand(s *Sale, event Event) {
	c := event.Command
	if s.attempts != nil {
		if s.attempts[event.Node] += c.Polls; c.Verb == Takes && c.Outcome == Refused {
			s.attempts[event.Node]++
		}
	}
	if c.Verb == Takes && (c.Outcome == Unknown || !s.EndedAt.IsZero()) {
		if s.unansweredSince.IsZero() || event.Sent.Before(s.unansweredSince) {
			s.unansweredSince = event.Sent
		}
		a.report(s.findUnanswered()...)
	}
	a.queueOf(event).record(event)
	a.recordRenewal(s, event)
}

// accuse finds, once, that a sale failed because a command that asked for its lock had no reply, or none in time.
func (s *Sale) findUnanswered() []Finding {
	if s.Error == "" || !s.ObtainedAt.IsZero() || s.isUnansweredReported {
		return nil
	}
	s.isUnansweredReported = true
	return []Finding{{Kind: Unanswered, At: s.EndedAt, Subject: s.Name, Duration: Millis(s.EndedAt.Sub(s.unansweredSince))}}
}

// recordRenewal finds the locks that are renewed though no sale needs them any more. An expiry that is set whosever the lock is belongs to
// the taking of it.
func (a *Account) recordRenewal(s *Sale, event Event) {
	c := event.Command
	last, known := a.lastEnds[event.Replica]
	if c.Verb != Renews || c.Outcome != Done || c.Forced || !known || !event.Sent.After(last.Replied) {
		return
	}
	if slices.ContainsFunc(a.ActiveSales, func(g *Sale) bool { return g == s || s.Name == "" && g.Replica == event.Replica }) {
		return
	}
	f, before := a.orphanRenewals[c.Holder]
	if !before {
		f = Finding{Kind: RenewedAfterEnd, At: event.Replied, Subject: actorOf(event), Other: last.Sale}
	}
	f.Count++
	a.orphanRenewals[c.Holder] = f
}

// leftBehind finds the lock of somebody who is gone, if it never expires.
func (a *Account) findLeftBehind() []Finding {
	if len(a.Holdings) == 0 {
		return nil
	}
	h := a.Holdings[len(a.Holdings)-1]
	if h.End != Ongoing || h.TTL != 0 {
		return nil
	}
	gone := a.diedAt[ReplicaOf(h.Holder)]
	if s := a.salesByName[h.Holder]; s != nil && s.EndedAt.After(h.From) {
		gone = s.EndedAt
	}
	if !gone.After(h.From) {
		return nil
	}
	return []Finding{{Kind: LeftBehind, At: gone, Subject: h.Holder}}
}

// gone is what a replica that died leaves to the others: its lock, or its place in the queue.
type deadReplica struct {
	holderOrWaiter string // the holder; of a place, the first sale that waited there
	diedAt         time.Time
	queuedSince    time.Time // of a place: since when the replica had it
	hadLock        bool
}

// queue is who waits for the lock in Redis, one after the other, as far as commands tell.
type redisQueue struct {
	queuedSince map[string]time.Time // replicas that asked for the lock in vain, since when
	dead        []deadReplica
	handedOffAt time.Time // when a replica handed the lock to the first in the queue, and nobody has come in since
}

// queueOf returns the queue for the lock that an event is about.
func (a *Account) queueOf(event Event) *redisQueue {
	if a.queues[event.Segment] == nil {
		a.queues[event.Segment] = &redisQueue{queuedSince: map[string]time.Time{}}
	}
	return a.queues[event.Segment]
}

// record notes who has a place in the queue, and when the first of it is to have the lock.
func (q *redisQueue) record(event Event) {
	switch c := event.Command; {
	case c.Verb == Takes && c.Outcome == Refused:
		if q.queuedSince[event.Replica].IsZero() {
			q.queuedSince[event.Replica] = event.Replied
		}
	case c.Verb == Removes:
		delete(q.queuedSince, event.Replica)
		if c.Outcome == Passed {
			q.handedOffAt = event.Replied
		}
	}
}

// markDead notes what a replica leaves, of all holdings and of the sales that go on. Its next process begins anew, with sales of old names.
func (q *redisQueue) markDead(event Event, segment int, holdings []*Holding, going []*Sale) {
	left := deadReplica{diedAt: event.Replied, queuedSince: q.queuedSince[event.Replica]}
	for _, h := range holdings {
		its := h.Segment == segment && ReplicaOf(h.Holder) == event.Replica
		if its && h.Contains(event.Replied) && (h.End != Ongoing || !h.isExpiredAt(event.Replied)) {
			left.holderOrWaiter, left.hadLock = h.Holder, true
		}
	}
	for _, s := range going {
		switch {
		case s.Replica != event.Replica || s.Segment != segment:
		case left.holderOrWaiter == event.Replica && !s.ObtainedAt.IsZero(), left.holderOrWaiter == "" && s.IsWaiting() && !left.queuedSince.IsZero():
			left.holderOrWaiter = s.Name
		}
	}
	if left.holderOrWaiter != "" {
		q.dead = append(q.dead, left)
	}
	delete(q.queuedSince, event.Replica)
}

// adopt is for a sale that has waited for its turn: perhaps for that of one that is gone, too.
func (q *redisQueue) admit(s *Sale, event Event) (found []Finding) {
	queued, is := q.queuedSince[event.Replica]
	if !is { // it had the lock at once
		queued = s.AskedAt
	}
	delete(q.queuedSince, event.Replica)
	q.dead = slices.DeleteFunc(q.dead, func(g deadReplica) bool {
		since, kind := later(g.diedAt, s.AskedAt), DiedHolding
		if !g.hadLock {
			if !q.handedOffAt.After(g.queuedSince) || !queued.After(g.queuedSince) {
				return false // it came in before its turn, or was ahead of it
			}
			since, kind = later(q.handedOffAt, s.AskedAt), DiedInQueue
		}
		f := Finding{Kind: kind, At: event.Replied, Subject: g.holderOrWaiter, Other: s.Name, Duration: Millis(event.Replied.Sub(since))}
		switch {
		case time.Duration(f.Duration) > reportedWait:
			found = append(found, f)
		case !g.hadLock:
			f.Kind, f.Duration = QueuePlaceExpired, 0
			found = append(found, f)
		}
		return true
	})
	q.handedOffAt = time.Time{}
	return found
}
