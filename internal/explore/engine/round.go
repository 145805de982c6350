package engine

import (
	"slices"
	"time"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

// round is what a task did from one pause to the next, with the tasks that it started for it: for a waiter, one attempt at the lock.
type round struct {
	number        int               // among the rounds of the execution
	startVersion  simredis.Version  // of the cluster, before its first command
	ownChanges    simredis.Version  // by its own commands
	usedOtherKeys bool              // it has asked for more than the lock's keys
	serversBefore []*simredis.State // what each server held before the first of these changes
	commandCount  int               // commands that a server got
	queries       []query           // these commands, while CheckPolls looks at them
	replyLost     bool              // a reply was lost
	wrote         bool              // it did anything to what Redis holds, if only to an expiry
	readClock     bool              // it looked at the clock
	timeDependent bool              // it sent a command whose reply depends on the time
	lastCommandAt time.Duration     // of its last command
	repeatsLast   bool              // it is the last one once more

	startHistory processHistory // of its process when it began
	startLabels  int            // of its actor then
	startEvents  int            // how much had happened to its process by then
	ownEvents    int            // how much has happened since, by itself
	endEvents    int            // how much had happened to its process when it ended with a pause
	repliesHash  Fingerprint    // what it was told, except the time
}

// beginRound starts a round of t's.
func (t *Task) beginRound() {
	t.x.roundCount++
	p := t.actor.Process
	t.round = round{
		number: t.x.roundCount, startVersion: t.x.Cluster.Version(), lastCommandAt: t.x.now,
		startHistory: p.processHistory, startLabels: t.actor.labelCount, startEvents: p.eventCount,
	}
}

// BeginRound says that what the current task did until now was not for the lock.
func (x *Execution) BeginRound() { x.current.Load().beginRound() }

// itsRound returns the round that t is part of.
func (t *Task) currentRound() *round {
	if t.parent != nil && !t.detached && t.parent.currentRound().number == t.parentRound {
		return t.parent.currentRound()
	}
	return &t.round
}

// question is a command that a server got.
type query struct {
	server  *simredis.Server
	command *simredis.Command // nil: the server refused connections
}

// recordCommand records that a server gets a command, when the cluster has this version.
func (t *Task) recordCommand(q query, version simredis.Version) {
	r := t.currentRound()
	if r.commandCount == 0 {
		r.startVersion = version
	}
	if r.commandCount++; t.x.checksPolls {
		r.queries = append(r.queries, q)
	}
	r.lastCommandAt = t.x.now
}

// prolongs reports whether the round has changed nothing, and would change an expiry if it were made later.
func (r *round) prolongs(c *simredis.Cluster, now time.Duration) bool {
	return r.ownChanges.All == 0 && slices.ContainsFunc(r.queries, func(q query) bool {
		return q.command != nil && c.WouldProlong(q.server, now, q.command)
	})
}

// wouldRepeat reports whether t's next round would be as its last: lock.Poll says that it is the same attempt, and neither what it asked
// for in Redis, nor what its process knows, nor the time that it looks at has changed.
func (t *Task) wouldRepeat() bool {
	r, notes := &t.round, t.actor.Process.eventCount
	return t.isInPollSleep() && !r.replyLost && r.ownEvents == notes-r.startEvents && r.endEvents == notes &&
		!r.isOutdated(t.x.Cluster) && (r.ownChanges.All == 0 || t.x.Cluster.HoldsSame(r.serversBefore)) &&
		(!r.readClock && !r.timeDependent || r.lastCommandAt == t.x.now)
}

// isOutdated reports whether others have changed, since its first command, what the round asked for.
func (r *round) isOutdated(c *simredis.Cluster) bool {
	others := c.Version().Minus(r.startVersion).Minus(r.ownChanges)
	return others.Transient > 0 || r.usedOtherKeys && others.All > 0
}

// wake ends t's pause of a moment. Of a round that is undone, nothing is remembered: those who undo each other's rounds could go on for
// ever.
func (t *Task) wake() {
	repeats := t.wouldRepeat()
	if !repeats && t.isUndone() {
		t.restoreHistory()
	}
	t.beginRound()
	t.round.repeatsLast = repeats
	t.actor.Process.recordEvent("wake " + t.label)
	t.round.startEvents = t.actor.Process.eventCount
	t.waitTimer.fire()
	t.x.settle()
}

// digest makes one thing of what happened in a round that has only asked: what it was told. A waiter may remember how often it was told
// so, but not when.
func (t *Task) compressHistory() {
	if told := t.round.repliesHash; (t.round.commandCount > 0 || t.isInPollSleep()) && t.isTraceless() {
		p, known := t.actor.Process, t.actor.Process.knownActors
		t.restoreHistory()
		p.hash, p.knownActors = t.x.Hasher.extend(p.hash, "told "+string(told.Append(nil))), known // told names them
	}
}

// undone reports whether t's last round has changed what Redis holds, and left no trace.
func (t *Task) isUndone() bool {
	return (t.round.ownChanges.All > 0 || t.x.Cluster.OnNodes()) && t.isTraceless()
}

// isTraceless reports whether t's last round has left nothing in Redis, and everything that happened to its process since is known to be
// its own.
func (t *Task) isTraceless() bool {
	r, p := &t.round, t.actor.Process
	nothing := r.ownChanges.All == 0 && !t.x.Cluster.OnNodes()
	return !r.replyLost && !t.hasHelper() && r.ownEvents == p.eventCount-r.startEvents && (nothing || t.actor.isUndone(t.x.Cluster))
}

// restore makes a process's past what it was before t's round.
func (t *Task) restoreHistory() {
	t.actor.Process.processHistory, t.actor.labelCount = t.round.startHistory, t.round.startLabels
}

// undone reports whether the servers that answer hold nothing of a's process.
func (a *Actor) isUndone(c *simredis.Cluster) bool {
	for _, s := range c.Servers() {
		if s.Health != simredis.Well {
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
