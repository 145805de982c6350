package engine

import (
	"bytes"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
)

// round is what a task did from one pause to the next, with the tasks that it started for it: for a waiter, one attempt at the lock.
type round struct {
	number  int               // of the execution's
	changes uint64            // of what Redis holds, by itself
	before  []*simredis.State // what Redis held before the first of them
	lost    bool              // a reply was
	did     bool              // anything to what Redis holds, if only to an expiry
	looked  bool              // at the clock
	version uint64            // of the cluster, before its first command
	at      time.Duration     // of its last command
	asked   []asked
	vain    int // how many rounds like this one there were, with nothing changed by others

	memory memory      // of its process when it began
	labels int         // of its actor then
	noted  int         // how much had happened to its process by then
	notes  int         // how much has happened since, by itself
	told   Fingerprint // what it was told, but for the time
}

// beginRound starts a round of t's.
func (x *memories) beginRound(t *Task) {
	x.rounds++
	p := t.actor.Process
	t.round = round{number: x.rounds, memory: p.memory, labels: t.actor.labels, noted: p.notes}
}

// BeginRound says that what the current task did until now was not for the lock.
func (x *memories) BeginRound() { x.beginRound(x.current.Load()) }

// itsRound returns the round that t is part of.
func (t *Task) itsRound() *round {
	if t.parent != nil && !t.apart && t.parent.itsRound().number == t.started {
		return t.parent.itsRound()
	}
	return &t.round
}

// took takes down a command that a server got at this time, when the cluster had this version.
func (r *round) took(a asked, version uint64, now time.Duration) {
	if len(r.asked) == 0 {
		r.version = version
	}
	r.asked, r.at = append(r.asked, a), now
}

// asked is a command that a server got.
type asked struct {
	server  *simredis.Server
	health  simredis.Health
	command *simredis.Command // nil: it was refused
	reply   []byte
	sent    []redis.Cmder
}

// again reports whether the server would answer it as it did, and whether it would still do nothing.
func (a asked) again(c *simredis.Cluster, now time.Duration) (same, nothing bool) {
	if a.command == nil || a.health != a.server.Health {
		same = a.health == a.server.Health
		return same, same
	}
	answer, err := c.Would(a.server, now, a.command)
	same = err == nil && bytes.Equal(answer.Reply, a.reply)
	return same, same && answer.Then == a.server.Holds
}

// isRepeatable reports whether all that the round did was to ask, or was undone, and to ask again would tell it the same: others have
// changed nothing, and time makes no difference.
func (r *round) isRepeatable(c *simredis.Cluster, now time.Duration) bool {
	if len(r.asked) == 0 || r.lost || r.looked && r.at != now {
		return false
	}
	if r.changes > 0 {
		return c.Version()-r.version == r.changes && c.Unchanged(r.before) && (r.at == now || r.sameAnswer(c, now))
	}
	return r.at == now && c.Version() == r.version || r.sameAnswers(c, now)
}

// sameAnswer reports whether its last command would have the same reply.
func (r *round) sameAnswer(c *simredis.Cluster, now time.Duration) bool {
	if len(r.asked) == 0 {
		return true
	}
	same, _ := r.asked[len(r.asked)-1].again(c, now)
	return same
}

// sameReplies reports whether all its commands would have the same reply, whatever they change.
func (r *round) sameReplies(c *simredis.Cluster, now time.Duration) bool {
	return len(r.asked) > 0 && !slices.ContainsFunc(r.asked, func(a asked) bool {
		same, _ := a.again(c, now)
		return !same
	})
}

// sameAnswers reports whether all its commands would have the same reply, and still change nothing.
func (r *round) sameAnswers(c *simredis.Cluster, now time.Duration) bool {
	return !slices.ContainsFunc(r.asked, func(a asked) bool {
		_, nothing := a.again(c, now)
		return !nothing
	})
}

// isExtended reports whether its commands, sent once more by then, would change what Redis holds by then, if only an expiry.
func (r *round) isExtended(c *simredis.Cluster, now, then time.Duration) bool {
	return slices.ContainsFunc(r.asked, func(a asked) bool {
		if a.command == nil {
			return false
		}
		changes, err := c.WouldChange(a.server, now, then, a.command)
		return err == nil && changes
	})
}

// wouldRepeat reports whether t's next round would be as its last.
func (x *scheduler) wouldRepeat(t *Task) bool {
	return t.retries() && t.round.isRepeatable(x.Cluster, x.now) || x.isUnchanged(t)
}

// wake ends t's pause of a moment. Its last round, if that was in vain or is undone, is one of those that the scenario bounds; what a
// waiter remembers of the rounds beyond is the last.
func (x *polling) wake(t *Task, k Kind) {
	vain := 0
	if x.wouldRepeat(t) {
		vain = t.round.vain + 1
	}
	switch undone := vain == 0 && x.undone(t); {
	case (k == Polls || undone) && x.polls > 0:
		x.polls--
	case undone:
		x.beyond = true
		x.restore(t)
	}
	x.beginRound(t)
	t.round.vain = vain
	x.note(t.actor.Process, "wake "+t.label)
	t.round.noted = t.actor.Process.notes
	x.fire(t.sleep)
	x.settle()
}

// digest makes one thing of what happened in a round that has only asked: what it was told. A waiter may remember how often it was told
// so, but not when.
func (x *memories) digest(t *Task) {
	if told := t.round.told; (len(t.round.asked) > 0 || t.poller.still) && x.isTraceless(t) {
		p, known := t.actor.Process, t.actor.Process.known
		x.restore(t)
		p.past, p.known = x.Hasher.add(p.past, "told "+string(told.Append(nil))), known // told names them
	}
}

// undone reports whether t's last round has changed what Redis holds, and left no trace. Those who undo each other's rounds could go on
// for ever.
func (x *scheduler) undone(t *Task) bool {
	return (t.round.changes > 0 || x.Cluster.OnNodes()) && x.isTraceless(t)
}

// isTraceless reports whether t's last round has left nothing in Redis, and everything that happened to its process since is known to be
// its own.
func (x *scheduler) isTraceless(t *Task) bool {
	r, p := &t.round, t.actor.Process
	return !r.lost && !x.helped(t) && r.notes == p.notes-r.noted && (r.changes == 0 && !x.Cluster.OnNodes() || t.actor.undone(x.Cluster))
}

// restore makes a process's past what it was before t's round.
func (x *memories) restore(t *Task) {
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
