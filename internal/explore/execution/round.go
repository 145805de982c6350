package execution

import (
	"bytes"
	"slices"
	"time"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

// round is what a task did from one pause to the next, with the tasks that it started for it: for a waiter, one attempt at the lock.
type round struct {
	number   int // of the execution's
	commands int
	changes  uint64            // of what Redis holds, by itself
	before   []*simredis.State // what Redis held before the first of them
	lost     bool              // a reply was
	looked   bool              // at the clock
	version  uint64            // of the cluster, before its first command
	at       time.Duration     // of its last command
	server   *simredis.Server  // that it was sent to
	sent     []byte            // that command
	reply    []byte
	vain     int // how many rounds like this one there were, with nothing changed by others

	// What its process's were when it began, and how much was added to its past since.
	past    Fingerprint
	answers []Fingerprint
	looks   int
	labels  int
	noted   int
	notes   int // of these, by itself
}

// begins starts a round of t's.
func (x *Execution) begins(t *Task) {
	x.rounds++
	p := t.actor.Process
	t.round = round{number: x.rounds, past: p.past, answers: p.answers, looks: p.looks, labels: t.actor.labels, noted: p.notes}
}

// BeginRound says that what the current task did until now was not for the lock.
func (x *Execution) BeginRound() { x.begins(x.current) }

// itsRound is the round that t is part of.
func (t *Task) itsRound() *round {
	if t.parent != nil && t.parent.itsRound().number == t.started {
		return t.parent.itsRound()
	}
	return &t.round
}

// took takes down a command that a server got at this time, when the cluster had this version.
func (r *round) took(s *simredis.Server, version uint64, now time.Duration, sent, reply []byte) {
	if r.commands++; r.commands == 1 {
		r.version = version
	}
	r.at, r.server, r.sent, r.reply = now, s, sent, reply
}

// wouldRepeat reports whether all that the round did was to ask, or was undone, and to ask again would tell it the same: others have
// changed nothing, and time makes no difference.
func (r *round) wouldRepeat(c *simredis.Cluster, now time.Duration) bool {
	if r.commands == 0 || r.lost || c.Version()-r.version != r.changes || r.changes > 0 && !c.Unchanged(r.before) {
		return false
	}
	if r.at == now {
		return true
	}
	return !r.looked && r.sameAnswer(c, now)
}

// sameAnswer reports whether its last command would have the same reply.
func (r *round) sameAnswer(c *simredis.Cluster, now time.Duration) bool {
	a, err := c.Would(r.server, now, r.sent)
	return err == nil && bytes.Equal(a.Reply, r.reply)
}

// wouldRepeat reports whether t's next round would be as its last.
func (x *Execution) wouldRepeat(t *Task) bool { return t.round.wouldRepeat(x.Cluster, x.now) }

// wake ends t's pause of a moment.
func (x *Execution) wake(t *Task) {
	vain := 0
	if x.wouldRepeat(t) {
		vain = t.round.vain + 1
	}
	x.forget(t)
	x.begins(t)
	t.round.vain = vain
	x.note(t.actor.Process, "wake %s", t.label)
	t.round.noted = t.actor.Process.notes
	x.fire(t.sleep)
	x.settle()
}

// forget forgets a round that has left no trace in Redis, once the next one begins: what a waiter remembers of its rounds is the last.
// Without that, those who undo each other's rounds could go on for ever.
func (x *Execution) forget(t *Task) {
	r, p := &t.round, t.actor.Process
	if (r.changes > 0 || x.Cluster.OnNodes()) && !r.lost && !x.helped(t) && r.notes == p.notes-r.noted && t.actor.undone(x.Cluster) {
		p.past, p.answers, p.looks, t.actor.labels = r.past, r.answers, r.looks, r.labels
	}
}

// undone reports whether the servers that answer hold nothing of a's process.
func (a *Actor) undone(c *simredis.Cluster) bool {
	for _, s := range c.Servers() {
		if s.Health != simredis.Well {
			continue
		}
		for _, k := range s.Holds.Keys {
			if a.Process.Owns(k) || slices.Contains(k.Values, lock.Owner(a.Name)) {
				return false
			}
		}
	}
	return true
}
