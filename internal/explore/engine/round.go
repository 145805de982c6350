package engine

import (
	"slices"
	"time"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

// round is what a task did from one pause to the next, with the tasks that it started for it: for a waiter, one attempt at the lock.
type round struct {
	number  int               // among the rounds of the execution
	version simredis.Version  // of the cluster, before its first command
	changes simredis.Version  // by its own commands
	stock   bool              // it has asked for more than the lock's keys
	before  []*simredis.State // what each server held before the first of these changes
	asks    int               // commands that a server got
	asked   []question        // these commands, while CheckPolls looks at them
	lost    bool              // a reply was lost
	did     bool              // it did anything to what Redis holds, if only to an expiry
	looked  bool              // it looked at the clock
	timed   bool              // it sent a command whose reply depends on the time
	at      time.Duration     // of its last command
	repeats bool              // it is the last one once more

	memory memory      // of its process when it began
	labels int         // of its actor then
	noted  int         // how much had happened to its process by then
	notes  int         // how much has happened since, by itself
	rested int         // how much had happened to its process when it ended with a pause
	told   Fingerprint // what it was told, except the time
}

// beginRound starts a round of t's.
func (t *Task) beginRound() {
	t.x.rounds++
	p := t.actor.Process
	t.round = round{
		number: t.x.rounds, version: t.x.Cluster.Version(), at: t.x.now, memory: p.memory, labels: t.actor.labels, noted: p.notes,
	}
}

// BeginRound says that what the current task did until now was not for the lock.
func (x *Execution) BeginRound() { x.current.Load().beginRound() }

// itsRound returns the round that t is part of.
func (t *Task) itsRound() *round {
	if t.parent != nil && !t.apart && t.parent.itsRound().number == t.started {
		return t.parent.itsRound()
	}
	return &t.round
}

// question is a command that a server got.
type question struct {
	server  *simredis.Server
	command *simredis.Command // nil: the server refused connections
}

// recordCommand records that a server gets a command, when the cluster has this version.
func (t *Task) recordCommand(q question, version simredis.Version) {
	r := t.itsRound()
	if r.asks == 0 {
		r.version = version
	}
	if r.asks++; t.x.checking {
		r.asked = append(r.asked, q)
	}
	r.at = t.x.now
}

// prolongs reports whether the round has changed nothing, and would change an expiry if it were made later.
func (r *round) prolongs(c *simredis.Cluster, now time.Duration) bool {
	return r.changes.All == 0 && slices.ContainsFunc(r.asked, func(q question) bool {
		return q.command != nil && c.WouldProlong(q.server, now, q.command)
	})
}

// wouldRepeat reports whether t's next round would be as its last: lock.Poll says that it is the same attempt, and neither what it asked
// for in Redis, nor what its process knows, nor the time that it looks at has changed.
func (t *Task) wouldRepeat() bool {
	r, notes := &t.round, t.actor.Process.notes
	return t.retries() && !r.lost && r.notes == notes-r.noted && r.rested == notes &&
		!r.isOutdated(t.x.Cluster) && (r.changes.All == 0 || t.x.Cluster.Unchanged(r.before)) && (!r.looked && !r.timed || r.at == t.x.now)
}

// isOutdated reports whether others have changed, since its first command, what the round asked for.
func (r *round) isOutdated(c *simredis.Cluster) bool {
	others := c.Version().Minus(r.version).Minus(r.changes)
	return others.Transient > 0 || r.stock && others.All > 0
}

// wake ends t's pause of a moment. Of a round that is undone, nothing is remembered: those who undo each other's rounds could go on for
// ever.
func (t *Task) wake() {
	repeats := t.wouldRepeat()
	if !repeats && t.undone() {
		t.restore()
	}
	t.beginRound()
	t.round.repeats = repeats
	t.actor.Process.note("wake " + t.label)
	t.round.noted = t.actor.Process.notes
	t.sleep.fire()
	t.x.settle()
}

// digest makes one thing of what happened in a round that has only asked: what it was told. A waiter may remember how often it was told
// so, but not when.
func (t *Task) digest() {
	if told := t.round.told; (t.round.asks > 0 || t.retries()) && t.isTraceless() {
		p, known := t.actor.Process, t.actor.Process.known
		t.restore()
		p.past, p.known = t.x.Hasher.add(p.past, "told "+string(told.Append(nil))), known // told names them
	}
}

// undone reports whether t's last round has changed what Redis holds, and left no trace.
func (t *Task) undone() bool {
	return (t.round.changes.All > 0 || t.x.Cluster.OnNodes()) && t.isTraceless()
}

// isTraceless reports whether t's last round has left nothing in Redis, and everything that happened to its process since is known to be
// its own.
func (t *Task) isTraceless() bool {
	r, p := &t.round, t.actor.Process
	nothing := r.changes.All == 0 && !t.x.Cluster.OnNodes()
	return !r.lost && !t.helped() && r.notes == p.notes-r.noted && (nothing || t.actor.undone(t.x.Cluster))
}

// restore makes a process's past what it was before t's round.
func (t *Task) restore() {
	t.actor.Process.memory, t.actor.labels = t.round.memory, t.round.labels
}

// undone reports whether the servers that answer hold nothing of a's process.
func (a *Actor) undone(c *simredis.Cluster) bool {
	for _, s := range c.Servers() {
		if s.Health != simredis.Well {
			continue
		}
		for _, k := range s.Holds.Keys {
			if a.Process.Owns(k) || slices.Contains(k.Values, lock.Owner(a.Sale)) {
				return false
			}
		}
	}
	return true
}
