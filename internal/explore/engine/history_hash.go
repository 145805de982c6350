package engine

import (
	"hash/maphash"
	"slices"
	"strconv"

	"lockstep/internal/explore/search"
	"lockstep/internal/explore/simredis"
)

// Fingerprint is a 128-bit hash of a state or of a history.
type Fingerprint = search.Fingerprint

// Hasher computes fingerprints. Two hashers with the same seeds compute the same fingerprints.
type Hasher struct {
	seeds      Seeds
	buffer     []byte // data of the last sum, reused
	joined     []byte // result of the last join, reused
	nodeBuffer []byte // data of one node's hash, reused by appendNodes
}

// Seeds are the seeds of the two 64-bit halves of a Hasher's fingerprints.
type Seeds [2]maphash.Seed

// NewSeeds returns new random seeds.
func NewSeeds() Seeds { return Seeds{maphash.MakeSeed(), maphash.MakeSeed()} }

// NewHasher returns a hasher with these seeds.
func NewHasher(seeds Seeds) *Hasher {
	return &Hasher{seeds: seeds}
}

// sum returns the fingerprint of b, and keeps b as buffer.
func (h *Hasher) sum(b []byte) Fingerprint {
	h.buffer = b
	return Fingerprint{maphash.Bytes(h.seeds[0], b), maphash.Bytes(h.seeds[1], b)}
}

// extend returns the hash of a history to which one event is added.
func (h *Hasher) extend(past Fingerprint, parts ...string) Fingerprint {
	return h.extendBytes(past, h.join(parts))
}

// join concatenates the parts of an event. The result is valid until the next call.
func (h *Hasher) join(parts []string) []byte {
	h.joined = h.joined[:0]
	for _, part := range parts {
		h.joined = append(h.joined, part...)
	}
	return h.joined
}

// extendBytes is extend for an event that is already in one piece.
func (h *Hasher) extendBytes(past Fingerprint, b []byte) Fingerprint {
	return h.sum(append(past.Append(h.buffer[:0]), b...))
}

// recordEvent adds an event to the history of p, and to the round of the task that runs.
func (p *Process) recordEvent(parts ...string) {
	if p.dead {
		return
	}
	p.countEvent()
	local := p.localizeNames(p.x.Hasher.join(parts))
	p.hash = p.x.Hasher.extendBytes(p.hash, local)
	if t := p.x.current.Load(); t != nil {
		r := t.currentRound()
		r.repliesHash = p.x.Hasher.extendBytes(r.repliesHash, local)
	}
}

// localizeNames replaces the names of actors in an event by the order in which the process met them, so that histories that differ
// only in names have the same hash. It changes event in place.
func (p *Process) localizeNames(event []byte) []byte {
	if !p.x.hasInterchangeableActors() {
		return event
	}
	return renameActors(event, p.x.FirstActorName, len(p.x.actors), func(actor int) byte {
		i := slices.Index(p.knownActors, byte(actor)) //nolint:gosec // fits: few values
		if i < 0 {
			i = len(p.knownActors)
			p.knownActors = append(slices.Clip(p.knownActors), byte(actor)) //nolint:gosec // fits: few values
		}
		return byte(i) //nolint:gosec // fits: few values
	})
}

// recordClockRead adds to the history that a task of p has read the clock.
func (p *Process) recordClockRead() {
	p.clockReads.count++
	if p.clockReads.lastTime == p.x.now || p.dead {
		return
	}
	p.clockReads.lastTime = p.x.now
	p.countEvent()
	p.hash = p.x.Hasher.extend(p.hash, "now ", strconv.Itoa(p.clockReads.count), " ", strconv.Itoa(int(p.x.now)))
}

// recordReply adds to the history the reply that t got from a server. If t was started by another task to query a node, the reply goes only
// into the process's history with that node. mergeNodeHistories adds these histories to the main one when the waiting task goes on: by then
// neither the order of the nodes' replies matters, nor which node gave which reply.
func (t *Task) recordReply(s *simredis.Server, outcome, requester, reply string) {
	x, p := t.x, t.actor.Process
	p.lastReplyStep = len(x.schedule)
	switch {
	case s.Index == 0 || t.parent == nil || x.EverySymmetry:
		p.recordEvent(t.label, " ", strconv.Itoa(s.Index), " ", outcome, " ", requester, " ", reply)
	case !p.dead:
		p.countEvent()
		p.nodeHashes = slices.Clone(p.nodeHashes)
		p.nodeHashes[s.Index] = x.Hasher.extend(p.nodeHashes[s.Index], outcome, " ", requester, " ", reply)
	}
}

// requesterLabel returns the label under which a reply of s to t enters the history. Tasks that one task has started to query the nodes
// are interchangeable, so all of them have their parent's label.
func requesterLabel(t *Task, s *simredis.Server) string {
	if s.Index == 0 || t.parent == nil {
		return t.label
	}
	return t.parent.label
}

// mergeNodeHistories adds the histories with all nodes to the main history, as a set: the sum does not depend on their order.
func (p *Process) mergeNodeHistories() {
	var sum Fingerprint
	for _, answers := range p.nodeHashes {
		sum[0] += answers[0]
		sum[1] += answers[1]
	}
	p.recordEvent("answers " + string(sum.Append(nil)))
}

// countEvent counts an event of p and of the running task's round.
func (p *Process) countEvent() {
	p.eventCount++
	if t := p.x.current.Load(); t != nil {
		t.currentRound().ownEvents++
	}
}
