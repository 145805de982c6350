package explore

import (
	"fmt"
	"hash/maphash"
	"slices"
)

// note adds to what has happened to a process.
func (w *world) note(p *replica, format string, args ...any) {
	if p.dead {
		return
	}
	b := w.buffer[:0]
	b = fmt.Appendf(b, "%d %d ", p.past[0], p.past[1])
	b = fmt.Appendf(b, format, args...)
	w.buffer = b
	p.past = [2]uint64{maphash.Bytes(w.seeds[0], b), maphash.Bytes(w.seeds[1], b)}
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
	b = append(b, w.redis.text...)
	for _, p := range w.replicas {
		if p.dead || p.ended() && !w.busy(p) && !w.ticks(p) {
			b = append(b, "|gone"...) // it has no future, so its past does not matter
			continue
		}
		b = fmt.Appendf(b, "|%d %d %t", p.past[0], p.past[1], p.paused)
	}
	for _, r := range w.routines {
		if r.unread && !r.ended {
			b = fmt.Appendf(b, "|%s unread", r.name)
		}
		if r.asleep() && !r.ended {
			b = fmt.Appendf(b, "|%s %t %d", r.name, w.wouldRepeat(r), r.try.vain)
		}
	}
	for _, t := range w.timers {
		b = fmt.Appendf(b, "|%s %d", t.actor.name, t.at-w.now)
	}
	for _, l := range w.listeners {
		b = fmt.Appendf(b, "|%s %t", l.channel, l.due)
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
	b = fmt.Appendf(b, "|%v %v %d %d", w.left, w.judge.holder, w.now, w.idle)
	for _, a := range w.actors {
		b = fmt.Appendf(b, "|%t", a.bereft)
	}
	w.buffer = b
	return [2]uint64{maphash.Bytes(w.seeds[0], b), maphash.Bytes(w.seeds[1], b)}
}
