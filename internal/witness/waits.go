package witness

import (
	"slices"
	"time"
)

// maxUnreportedOvertakes is the number of times that a sale may be overtaken without a finding: once, as in the explorer.
const maxUnreportedOvertakes = 1

// endNestedWait ends the wait of a nested call for the lock that its own sale holds, and returns the finding.
func (s *Sale) endNestedWait(at time.Time) []Finding {
	if s.nestedWaitSince.IsZero() {
		return nil
	}
	f := Finding{Kind: WaitsForItself, At: at, Subject: s.Name, Duration: Millis(at.Sub(s.nestedWaitSince))}
	s.nestedWaitSince = time.Time{}
	return []Finding{f}
}

// recordWait ends a sale's wait. It reports a long wait with the holder waited for, which may be the sale itself. It also reports polling.
// On several masters, the attempts on the master that was asked most often count.
func (a *Account) recordWait(s *Sale, event Event) {
	attempts := 0
	for _, times := range s.attempts {
		attempts = max(attempts, times)
	}
	if attempts > maxUnreportedAttempts {
		a.report(Finding{Kind: PolledOften, At: event.Replied, Subject: s.Name, Count: attempts})
	}
	since := s.waitingSince
	s.waitingSince, s.attempts = time.Time{}, nil
	if since.IsZero() || event.Replied.Sub(since) < reportedWait {
		return
	}
	f := Finding{Kind: WaitedLong, At: event.Replied, Subject: s.Name, Duration: Millis(event.Replied.Sub(since))}
	f.Other = holderAt(a.Holdings, s.Segment, since, event.Replied)
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

// holderAt returns the first holder of a segment's lock in a period; empty if nobody held it.
func holderAt(holdings []*Holding, segment int, from, to time.Time) string {
	for _, h := range holdings {
		if h.Segment == segment && h.From.Before(to) && (h.End == Ongoing || h.To.After(from)) {
			return h.Holder
		}
	}
	return ""
}

// findOvertaken returns a finding if the sale waits, or waited until now, while others that had asked later obtained the lock.
func (s *Sale) findOvertaken(now time.Time) []Finding {
	if s.overtakenCount <= maxUnreportedOvertakes || !s.IsWaiting() {
		return nil
	}
	return []Finding{{Kind: Overtaken, At: now, Subject: s.Name, Count: s.overtakenCount}}
}

// recordCommand counts attempts to take the lock, and handles commands without a reply, the queue, and renewals.
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

// findUnanswered returns a finding, once, if the sale failed because a command that asked for its lock had no reply, or none in time.
func (s *Sale) findUnanswered() []Finding {
	if s.Error == "" || !s.ObtainedAt.IsZero() || s.isUnansweredReported {
		return nil
	}
	s.isUnansweredReported = true
	return []Finding{{Kind: Unanswered, At: s.EndedAt, Subject: s.Name, Duration: Millis(s.EndedAt.Sub(s.unansweredSince))}}
}

// recordRenewal counts renewals of locks that no sale needs any more. A command that sets an expiry regardless of the owner is part of
// taking the lock, and does not count.
func (a *Account) recordRenewal(s *Sale, event Event) {
	c := event.Command
	last, ok := a.lastEnds[event.Replica]
	if c.Verb != Renews || c.Outcome != Done || c.Forced || !ok || !event.Sent.After(last.Replied) {
		return
	}
	if slices.ContainsFunc(a.ActiveSales, func(g *Sale) bool { return g == s || s.Name == "" && g.Replica == event.Replica }) {
		return
	}
	f, ok := a.orphanRenewals[c.Holder]
	if !ok {
		f = Finding{Kind: RenewedAfterEnd, At: event.Replied, Subject: actorOf(event), Other: last.Sale}
	}
	f.Count++
	a.orphanRenewals[c.Holder] = f
}

// findLeftBehind returns a finding if the latest holder has ended or died, and its lock never expires.
func (a *Account) findLeftBehind() []Finding {
	if len(a.Holdings) == 0 {
		return nil
	}
	h := a.Holdings[len(a.Holdings)-1]
	if h.End != Ongoing || h.TTL != 0 {
		return nil
	}
	ended := a.diedAt[ReplicaOf(h.Holder)]
	if s := a.salesByName[h.Holder]; s != nil && s.EndedAt.After(h.From) {
		ended = s.EndedAt
	}
	if !ended.After(h.From) {
		return nil
	}
	return []Finding{{Kind: LeftBehind, At: ended, Subject: h.Holder}}
}

// leftClaim is what a dead replica left behind: the lock, or its place in the queue.
type leftClaim struct {
	claimant    string    // sale that held the lock, or the first sale that waited; the replica's name if no sale is known
	diedAt      time.Time // time of death
	queuedSince time.Time // time at which the replica entered the queue; zero: it was not in the queue
	hadLock     bool      // the replica held the lock; false: it had a place in the queue
}

// redisQueue is the queue in Redis for the lock of one segment, as far as commands show it.
type redisQueue struct {
	queuedSince map[string]time.Time // time at which each waiting replica was first refused the lock, by replica
	leftClaims  []leftClaim          // claims of dead replicas that no sale has waited for yet
	handedOffAt time.Time            // time of the latest hand-off to the head of the queue; zero: a sale has obtained the lock since then
}

// queueOf returns the queue for the lock that an event is about.
func (a *Account) queueOf(event Event) *redisQueue {
	if a.queues[event.Segment] == nil {
		a.queues[event.Segment] = &redisQueue{queuedSince: map[string]time.Time{}}
	}
	return a.queues[event.Segment]
}

// record updates the places in the queue, and the time of the last hand-off, by a command.
func (q *redisQueue) record(event Event) {
	c := event.Command
	switch {
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

// markDead records what a dead replica leaves behind. holdings and active are the account's holdings and active sales. markDead has to
// record the names now, because sales of the replica's next process have the same names.
func (q *redisQueue) markDead(event Event, segment int, holdings []*Holding, active []*Sale) {
	claim := leftClaim{diedAt: event.Replied, queuedSince: q.queuedSince[event.Replica]}
	for _, h := range holdings {
		isOwn := h.Segment == segment && ReplicaOf(h.Holder) == event.Replica
		if isOwn && h.Contains(event.Replied) && (h.End != Ongoing || !h.isExpiredAt(event.Replied)) {
			claim.claimant, claim.hadLock = h.Holder, true
		}
	}
	for _, s := range active {
		switch {
		case s.Replica != event.Replica || s.Segment != segment:
		case claim.claimant == event.Replica && !s.ObtainedAt.IsZero(),
			claim.claimant == "" && s.IsWaiting() && !claim.queuedSince.IsZero():
			claim.claimant = s.Name
		}
	}
	if claim.claimant != "" {
		q.leftClaims = append(q.leftClaims, claim)
	}
	delete(q.queuedSince, event.Replica)
}

// admit handles an event in which a waiting sale obtains the lock. It returns the findings about the dead replicas for which the sale
// waited, and drops the claims of those replicas.
func (q *redisQueue) admit(s *Sale, event Event) (found []Finding) {
	queued, ok := q.queuedSince[event.Replica]
	if !ok { // The sale obtained the lock at once.
		queued = s.AskedAt
	}
	delete(q.queuedSince, event.Replica)
	q.leftClaims = slices.DeleteFunc(q.leftClaims, func(claim leftClaim) bool {
		since, kind := laterOf(claim.diedAt, s.AskedAt), DiedHolding
		if !claim.hadLock {
			if !q.handedOffAt.After(claim.queuedSince) || !queued.After(claim.queuedSince) {
				return false // The sale was ahead of the dead replica's place, or that turn has not come.
			}
			since, kind = laterOf(q.handedOffAt, s.AskedAt), DiedInQueue
		}
		f := Finding{Kind: kind, At: event.Replied, Subject: claim.claimant, Other: s.Name, Duration: Millis(event.Replied.Sub(since))}
		switch {
		case time.Duration(f.Duration) > reportedWait:
			found = append(found, f)
		case !claim.hadLock:
			f.Kind, f.Duration = QueuePlaceExpired, 0
			found = append(found, f)
		}
		return true
	})
	q.handedOffAt = time.Time{}
	return found
}
