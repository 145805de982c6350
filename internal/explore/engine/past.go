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
	seeds   Seeds
	buffer  []byte // of what is hashed
	written []byte // of what is to be added to a past
	part    []byte // of what is hashed by itself first
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
func (h *Hasher) add(past Fingerprint, what ...string) Fingerprint {
	return h.after(past, h.text(what))
}

// text writes what is to be added. It is good until the next.
func (h *Hasher) text(what []string) []byte {
	h.written = h.written[:0]
	for _, part := range what {
		h.written = append(h.written, part...)
	}
	return h.written
}

// after is add for what is written already.
func (h *Hasher) after(past Fingerprint, b []byte) Fingerprint {
	return h.sum(append(past.Append(h.buffer[:0]), b...))
}

// note adds to what has happened to a process.
func (p *Process) note(what ...string) {
	if p.dead {
		return
	}
	p.noted()
	local := p.localised(p.x.Hasher.text(what))
	p.past = p.x.Hasher.after(p.past, local)
	if t := p.x.current.Load(); t != nil {
		r := t.itsRound()
		r.told = p.x.Hasher.after(r.told, local)
	}
}

// localised puts, for each name, the number that it has for a process: the place at which it came to know it.
func (p *Process) localised(what []byte) []byte {
	if !p.x.alike() {
		return what
	}
	return rename(what, p.x.FirstName, len(p.x.actors), func(actor int) byte {
		i := slices.Index(p.known, byte(actor)) //nolint:gosec // they are few
		if i < 0 {
			i = len(p.known)
			p.known = append(slices.Clip(p.known), byte(actor)) //nolint:gosec // they are few
		}
		return byte(i) //nolint:gosec // they are few
	})
}

// look adds that a process looked at the clock.
func (p *Process) look() {
	p.looks.times++
	if p.looks.last == p.x.now || p.dead {
		return
	}
	p.looks.last = p.x.now
	p.noted()
	p.past = p.x.Hasher.add(p.past, "now ", strconv.Itoa(p.looks.times), " ", strconv.Itoa(int(p.x.now)))
}

// noteOf adds what t, or those by whose name it asked, got from a server. What a node answers to a task of its own is its history with that
// node, which counts once the one that asked goes on: by then it does not matter in which order nodes answered, nor which said what.
func (t *Task) noteOf(s *simredis.Server, what, by, reply string) {
	x, p := t.x, t.actor.Process
	p.told = len(x.taken)
	switch {
	case s.Index == 0 || t.parent == nil || x.EverySymmetry:
		p.note(t.label, " ", strconv.Itoa(s.Index), " ", what, " ", by, " ", reply)
	case !p.dead:
		p.noted()
		p.answers = slices.Clone(p.answers)
		p.answers[s.Index] = x.Hasher.add(p.answers[s.Index], what, " ", by, " ", reply)
	}
}

// inPast names t in what s answers: as one of many alike, if they are asked all at once.
func inPast(t *Task, s *simredis.Server) string {
	if s.Index == 0 || t.parent == nil {
		return t.label
	}
	return t.parent.label
}

// mergePast lets the answers that came count, for the one that waited for them.
func (p *Process) mergePast() {
	var sum Fingerprint
	for _, answers := range p.answers {
		sum[0] += answers[0]
		sum[1] += answers[1]
	}
	p.note("answers " + string(sum.Append(nil)))
}

// noted counts a note.
func (p *Process) noted() {
	p.notes++
	if t := p.x.current.Load(); t != nil {
		t.itsRound().notes++
	}
}
