package engine

import (
	"hash/maphash"
	"slices"
	"strconv"

	"lockstep/internal/explore/search"
	"lockstep/internal/explore/simredis"
)

// Fingerprint stands for a state, or for a past.
type Fingerprint = search.Fingerprint

// Hasher makes fingerprints. One that has the same seeds makes the same.
type Hasher struct {
	seeds      Seeds
	buffer     []byte // of what is hashed
	joined     []byte // of what is to be added to a past
	nodeBuffer []byte // of what is hashed by itself first
}

// Seeds are what a hasher begins with.
type Seeds [2]maphash.Seed

// NewSeeds makes seeds that nobody has had.
func NewSeeds() Seeds { return Seeds{maphash.MakeSeed(), maphash.MakeSeed()} }

// NewHasher makes a hasher with these seeds.
func NewHasher(seeds Seeds) *Hasher {
	return &Hasher{seeds: seeds}
}

func (h *Hasher) sum(b []byte) Fingerprint {
	h.buffer = b
	return Fingerprint{maphash.Bytes(h.seeds[0], b), maphash.Bytes(h.seeds[1], b)}
}

// add gives a past with one thing more in it.
func (h *Hasher) extend(past Fingerprint, what ...string) Fingerprint {
	return h.extendBytes(past, h.join(what))
}

// text writes what is to be added. It is good until the next.
func (h *Hasher) join(what []string) []byte {
	h.joined = h.joined[:0]
	for _, part := range what {
		h.joined = append(h.joined, part...)
	}
	return h.joined
}

// after is add for what is written already.
func (h *Hasher) extendBytes(past Fingerprint, b []byte) Fingerprint {
	return h.sum(append(past.Append(h.buffer[:0]), b...))
}

// note adds to what has happened to a process.
func (p *Process) recordEvent(what ...string) {
	if p.dead {
		return
	}
	p.countEvent()
	local := p.localizeNames(p.x.Hasher.join(what))
	p.hash = p.x.Hasher.extendBytes(p.hash, local)
	if t := p.x.current.Load(); t != nil {
		r := t.currentRound()
		r.repliesHash = p.x.Hasher.extendBytes(r.repliesHash, local)
	}
}

// localised puts, for each name, the number that it has for a process: the place at which it came to know it.
func (p *Process) localizeNames(what []byte) []byte {
	if !p.x.hasInterchangeableActors() {
		return what
	}
	return renameActors(what, p.x.FirstActorName, len(p.x.actors), func(actor int) byte {
		i := slices.Index(p.knownActors, byte(actor)) //nolint:gosec // they are few
		if i < 0 {
			i = len(p.knownActors)
			p.knownActors = append(slices.Clip(p.knownActors), byte(actor)) //nolint:gosec // they are few
		}
		return byte(i) //nolint:gosec // they are few
	})
}

// look adds that a process looked at the clock.
func (p *Process) recordClockRead() {
	p.clockReads.count++
	if p.clockReads.lastTime == p.x.now || p.dead {
		return
	}
	p.clockReads.lastTime = p.x.now
	p.countEvent()
	p.hash = p.x.Hasher.extend(p.hash, "now ", strconv.Itoa(p.clockReads.count), " ", strconv.Itoa(int(p.x.now)))
}

// noteOf adds what t, or those by whose name it asked, got from a server. What a node answers to a task of its own is its history with that
// node, which counts once the one that asked goes on: by then it does not matter in which order nodes answered, nor which said what.
func (t *Task) recordReply(s *simredis.Server, what, by, reply string) {
	x, p := t.x, t.actor.Process
	p.lastReplyStep = len(x.schedule)
	switch {
	case s.Index == 0 || t.parent == nil || x.EverySymmetry:
		p.recordEvent(t.label, " ", strconv.Itoa(s.Index), " ", what, " ", by, " ", reply)
	case !p.dead:
		p.countEvent()
		p.nodeHashes = slices.Clone(p.nodeHashes)
		p.nodeHashes[s.Index] = x.Hasher.extend(p.nodeHashes[s.Index], what, " ", by, " ", reply)
	}
}

// inPast names t in what s answers: as one of many alike, if they are asked all at once.
func requesterLabel(t *Task, s *simredis.Server) string {
	if s.Index == 0 || t.parent == nil {
		return t.label
	}
	return t.parent.label
}

// mergePast lets the answers that came count, for the one that waited for them.
func (p *Process) mergeNodeHistories() {
	var sum Fingerprint
	for _, answers := range p.nodeHashes {
		sum[0] += answers[0]
		sum[1] += answers[1]
	}
	p.recordEvent("answers " + string(sum.Append(nil)))
}

// noted counts a note.
func (p *Process) countEvent() {
	p.eventCount++
	if t := p.x.current.Load(); t != nil {
		t.currentRound().ownEvents++
	}
}
