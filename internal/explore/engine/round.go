package engine

import (
	"slices"
	"time"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

// round is what a task and its helpers do between two pauses: for a waiter, one attempt at the lock.
type round struct {
	number        int               // unique in the execution
	startVersion  simredis.Version  // the cluster's version before the round's first command
	ownChanges    simredis.Version  // changes made by the round's own commands
	usedOtherKeys bool              // keys other than the lock's were used
	serversBefore []*simredis.State // state of each server before the first of ownChanges
	commandCount  int               // commands that a server received
	queries       []query           // commands that a server received, recorded only during CheckPolls
	replyLost     bool              // a reply was lost
	wrote         bool              // a command has changed a key, or its expiry
	readClock     bool              // the process's clock was read
	timeDependent bool              // the reply to a command depended on the time
	lastCommandAt time.Duration     // virtual time of the round's start or last command; -1: a clock has jumped since then
	repeatsLast   bool              // the round repeats the one before

	startHistory processHistory // the process's history when the round began
	startLabels  int            // the actor's labelCount when the round began
	startEvents  int            // the process's eventCount when the round began
	eventsBefore int            // the process's eventCount before the event that began the round
	ownEvents    int            // events of the process since startEvents that belong to the round
	endEvents    int            // the process's eventCount when the round ended with a pause
	repliesHash  Fingerprint    // hash of the events of the round, clock reads excluded

	memoryBefore  uint64 // hash of the process's memory when the round began
	isMemoryKnown bool   // memoryBefore is valid: the previous round was a silent attempt of lock.Poll, and the memory can be read
}

// beginRound starts a new round of t.
func (t *Task) beginRound() {
	t.x.roundCount++
	p := t.actor.Process
	t.round = round{
		number: t.x.roundCount, startVersion: t.x.Cluster.Version(), lastCommandAt: t.x.now,
		startHistory: p.processHistory, startLabels: t.actor.labelCount, startEvents: p.eventCount, eventsBefore: p.eventCount,
	}
}

// BeginRound starts a new round of the current task: its actions before were not an attempt at the lock.
func (x *Execution) BeginRound() { x.current.Load().beginRound() }

// currentRound returns the round that t's actions belong to: the parent's round while t helps in it, or else t's own.
func (t *Task) currentRound() *round {
	if t.parent != nil && !t.detached && t.parent.currentRound().number == t.parentRound {
		return t.parent.currentRound()
	}
	return &t.round
}

// query is a command that a server received.
type query struct {
	server  *simredis.Server  // receiver
	command *simredis.Command // nil: the server refused the connection
}

// recordCommand records that a server has received a command. version is the cluster's version before the command.
func (t *Task) recordCommand(q query, version simredis.Version) {
	r := t.currentRound()
	if r.commandCount == 0 {
		r.startVersion = version
	}
	r.commandCount++
	if t.x.checksPolls {
		r.queries = append(r.queries, q)
	}
	r.lastCommandAt = t.x.now
}

// extendsExpiry reports whether the round has changed nothing, and would extend an expiry if it ran later.
func (r *round) extendsExpiry(c *simredis.Cluster, now time.Duration) bool {
	return r.ownChanges.All == 0 && slices.ContainsFunc(r.queries, func(q query) bool {
		return q.command != nil && c.WouldProlong(q.server, now, q.command)
	})
}

// wouldRepeat reports whether t's next round would be the same as its last. This holds if lock.Poll repeats the same attempt and none of
// the inputs of the last round has changed: the keys that the round used in Redis, its process's memory, and the time that it read.
func (t *Task) wouldRepeat() bool {
	r, events := &t.round, t.actor.Process.eventCount
	return t.isInPollSleep() && !r.replyLost && r.ownEvents == events-r.startEvents && r.endEvents == events &&
		!r.isOutdated(t.x.Cluster) && (r.ownChanges.All == 0 || t.x.Cluster.HoldsSame(r.serversBefore)) &&
		(!r.readClock && !r.timeDependent || r.lastCommandAt == t.x.now)
}

// isOutdated reports whether others have changed keys that the round used, since the round's first command.
func (r *round) isOutdated(c *simredis.Cluster) bool {
	others := c.Version().Minus(r.startVersion).Minus(r.ownChanges)
	return others.Transient > 0 || r.usedOtherKeys && others.All > 0
}

// wake ends t's brief sleep, and starts its next round. A round that undid its own changes is removed from the history: otherwise two
// waiters that undo each other's rounds would reach new states forever.
func (t *Task) wake() {
	repeats := t.wouldRepeat()
	if !repeats && t.isUndone() {
		t.restoreHistory()
	}
	followsSilentRound := t.isInPollSleep() && t.round.isSilent()
	t.beginRound()
	t.round.repeatsLast = repeats
	if followsSilentRound {
		t.round.memoryBefore, t.round.isMemoryKnown = t.actor.Process.memoryHash()
	}
	t.actor.Process.recordEvent("wake " + t.label)
	t.round.startEvents = t.actor.Process.eventCount
	t.waitTimer.fire()
	t.x.settle()
}

// compressHistory replaces the events of a round that left no trace with the hash of the round's replies. So a waiter remembers how often
// it got these replies, but not when.
func (t *Task) compressHistory() {
	if t.isSilentRepeat() {
		t.forgetRound()
		return
	}
	if replies := t.round.repliesHash; (t.round.commandCount > 0 || t.isInPollSleep()) && t.isTraceless() {
		p, known := t.actor.Process, t.actor.Process.knownActors
		t.restoreHistory()
		p.hash = t.x.Hasher.extend(p.hash, "told "+string(replies.Append(nil)))
		p.knownActors = known // the hash of the replies refers to actors that were met in this round
	}
}

// isSilentRepeat reports whether t's last two rounds sent nothing, and the last one changed nothing in the memory of its process either.
func (t *Task) isSilentRepeat() bool {
	r := &t.round
	if !r.isMemoryKnown || !r.isSilent() || !t.isInPollSleep() || !t.isTraceless() {
		return false
	}
	memory, ok := t.actor.Process.memoryHash()
	return ok && memory == r.memoryBefore
}

// isSilent reports whether the round has neither sent a command nor read the clock.
func (r *round) isSilent() bool { return r.commandCount == 0 && !r.readClock }

// forgetRound removes t's last round from the history, so that no other waiter of the process tries again because of it.
func (t *Task) forgetRound() {
	r, p := &t.round, t.actor.Process
	t.restoreHistory()
	p.eventCount = r.eventsBefore
	r.startEvents, r.endEvents, r.ownEvents = p.eventCount, p.eventCount, 0
}

// isUndone reports whether t's last round changed what Redis holds, and left no trace.
func (t *Task) isUndone() bool {
	return (t.round.ownChanges.All > 0 || t.x.Cluster.OnNodes()) && t.isTraceless()
}

// isTraceless reports whether t's last round lost no reply, left nothing in Redis and no running helper, and all events of its process
// since the round's start are the round's own.
func (t *Task) isTraceless() bool {
	r, p := &t.round, t.actor.Process
	isUnchanged := r.ownChanges.All == 0 && !t.x.Cluster.OnNodes()
	return !r.replyLost && !t.hasHelper() && r.ownEvents == p.eventCount-r.startEvents && (isUnchanged || t.actor.isUndone(t.x.Cluster))
}

// restoreHistory resets the process's history to what it was before t's round.
func (t *Task) restoreHistory() {
	t.actor.Process.processHistory, t.actor.labelCount = t.round.startHistory, t.round.startLabels
}

// isUndone reports whether the healthy servers hold nothing of a's sale or process.
func (a *Actor) isUndone(c *simredis.Cluster) bool {
	for _, s := range c.Servers() {
		if s.Health != simredis.Healthy {
			continue
		}
		for _, k := range s.State.Keys {
			if a.Process.OwnsKey(k) || slices.Contains(k.Values, lock.Owner(a.Sale)) {
				return false
			}
		}
	}
	return true
}
