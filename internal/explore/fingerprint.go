package explore

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
)

// note adds to what has happened to a process.
func (w *world) note(p *replica, format string, args ...any) {
	if p.dead {
		return
	}
	w.noted(p)
	p.past = w.hash(p.past, format, args...)
}

// noteOf adds what r got from a server. What a node answers to a goroutine of its own is its history with that node, which counts
// once the one that asked goes on: by then it does not matter in which order the nodes answered, nor which of them said what.
func (w *world) noteOf(r *routine, s *server, format string, args ...any) {
	p := r.actor.replica
	switch {
	case s.index == 0 || r.parent == nil || w.bounds.EverySymmetry:
		w.note(p, "%s %d", r.label, s.index)
		w.note(p, format, args...)
	case !p.dead:
		w.noted(p)
		p.answers = slices.Clone(p.answers)
		p.answers[s.index] = w.hash(p.answers[s.index], format, args...)
	}
}

// inPast names r in what s answers: as one of many alike, if they are asked all at once.
func (w *world) inPast(r *routine, s *server) string {
	if s.index == 0 || r.parent == nil {
		return r.label
	}
	return r.parent.label
}

// join lets the answers that came count, for the one that waited for them.
func (w *world) join(p *replica) {
	var sum [2]uint64
	for _, answers := range p.answers {
		sum[0] += answers[0]
		sum[1] += answers[1]
	}
	w.note(p, "answers %d", sum)
}

// noted counts a note.
func (w *world) noted(p *replica) {
	p.notes++
	if w.current != nil {
		w.current.itsTry().notes++
	}
}

func (w *world) hash(past [2]uint64, format string, args ...any) [2]uint64 {
	b := w.buffer[:0]
	b = fmt.Appendf(b, "%d %d ", past[0], past[1])
	b = fmt.Appendf(b, format, args...)
	w.buffer = b
	return [2]uint64{maphash.Bytes(w.seeds[0], b), maphash.Bytes(w.seeds[1], b)}
}

// busy reports whether a goroutine of p has not ended.
func (w *world) busy(p *replica) bool {
	return slices.ContainsFunc(w.routines, func(r *routine) bool { return r.actor.replica == p && !r.ended })
}

// ticks reports whether a timer of p is still to fire.
func (w *world) ticks(p *replica) bool {
	return slices.ContainsFunc(w.timers, func(t *timer) bool { return t.replica == p })
}

// fingerprint tells states apart from which the future may differ.
func (w *world) fingerprint() [2]uint64 {
	b := w.buffer[:0]
	b = append(b, w.stored().text...)
	b = w.appendNodes(b)
	for _, p := range w.replicas {
		if w.gone(p) {
			b = append(b, "|gone"...)
			continue
		}
		b = fmt.Appendf(b, "|%d %d %t", p.past[0], p.past[1], p.paused)
	}
	for _, r := range w.routines {
		if r.unread && !r.ended {
			b = fmt.Appendf(b, "|%s unread", r.label)
		}
		if r.asleep() && !r.ended {
			b = fmt.Appendf(b, "|%s %t %d", r.label, w.wouldRepeat(r), r.try.vain)
		}
	}
	for _, t := range w.timers {
		b = fmt.Appendf(b, "|%s %d", t.actor.name, t.at-w.now)
	}
	for _, l := range w.listeners {
		b = fmt.Appendf(b, "|%s %t %q", l.channel, l.ring != nil, l.messages)
	}
	for _, a := range w.actors {
		for _, one := range w.watches {
			if one.actor == a && !a.replica.dead {
				b = fmt.Appendf(b, "|%s %t", one.key, one.changed)
			}
		}
	}
	for _, a := range w.actors {
		if !a.started {
			b = fmt.Appendf(b, "|%t", w.backwards)
			break
		}
	}
	b = fmt.Appendf(b, "|%v %v %v %d %d", w.left, w.judge.holder, w.servers[0].heir, w.now, w.idle)
	for _, a := range w.actors {
		b = fmt.Appendf(b, "|%t", a.bereft)
	}
	w.buffer = b
	return [2]uint64{maphash.Bytes(w.seeds[0], b), maphash.Bytes(w.seeds[1], b)}
}

// appendNodes writes each node with its history, in an order that does not depend on which is which: nodes are alike.
func (w *world) appendNodes(b []byte) []byte {
	if len(w.servers) == 1 {
		return b
	}
	nodes := make([]string, 0, len(w.servers)-1)
	for _, s := range w.servers[1:] {
		n := fmt.Appendf(nil, "|%d %d %d %s", s.health, s.holder, s.heir, s.holds.text)
		for _, p := range w.replicas {
			if !w.gone(p) {
				n = fmt.Appendf(n, "|%d", p.answers[s.index])
			}
		}
		nodes = append(nodes, string(n))
	}
	if !w.bounds.EverySymmetry {
		slices.Sort(nodes)
	}
	return append(b, strings.Join(nodes, "")...)
}

// gone reports whether p has no future, so that its past does not matter.
func (w *world) gone(p *replica) bool { return p.dead || p.ended() && !w.busy(p) && !w.ticks(p) }
