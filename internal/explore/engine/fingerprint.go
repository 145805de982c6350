package engine

import (
	"fmt"
	"slices"
	"strconv"

	"lockstep/internal/explore/simredis"
)

// Fingerprint tells states apart from which the future may differ: what the servers hold, what happened to each process that has a
// future, who sleeps, which timers and messages are due, what is left of the budgets, and what the judge knows.
func (x *Execution) Fingerprint() Fingerprint { return (&stateWriter{x}).fingerprint() }

// stateWriter writes the state of an execution, for what tells states apart.
type stateWriter struct{ x *Execution }

func (w *stateWriter) fingerprint() Fingerprint {
	o := w.order()
	b := w.x.Hasher.buffer[:0]
	b = append(b, o.content(w.x, w.x.Cluster.Stored())...)
	b = w.appendHidden(b, w.x.Cluster.Servers()[0], o)
	b = w.appendNodes(b, o)
	for _, p := range w.sorted(o) {
		b = p.appendProcess(b, o)
	}
	for k := range w.x.rows {
		if left := w.x.left[w.x.rows[k].uses]; left > 0 {
			b = strconv.AppendInt(append(b, '|', byte(k)), int64(left), 10) //nolint:gosec // there are few
		}
	}
	for _, n := range [...]int{int(w.x.now), w.x.idle, int(w.x.jumped)} {
		b = strconv.AppendInt(append(b, ' '), int64(n), 10)
	}
	return w.x.Hasher.sum(o.rename(w.x, w.x.Judge.AppendState(b, o)))
}

// sorted returns the processes, in an order of the actors: if that is not the usual one, each is a process.
func (w *stateWriter) sorted(o Order) []*Process {
	if !o.alike {
		return w.x.processes
	}
	all := make([]*Process, len(o.Actors))
	for place, actor := range o.Actors {
		all[place] = w.x.actors[actor].Process
	}
	return all
}

// appendProcess writes what happened to a process, and what waits to happen to it.
func (p *Process) appendProcess(b []byte, o Order) []byte {
	if p.gone() {
		b = append(b, "|gone"...)
	} else {
		b = strconv.AppendBool(p.past.Append(append(b, '|')), p.paused)
		for _, actor := range p.known {
			b = strconv.AppendInt(append(b, ' '), int64(o.Places[actor]), 10)
		}
	}
	b = p.appendWaits(b)
	for _, a := range p.actors {
		if !a.Dead() || a.sentLate() {
			b = p.x.Cluster.AppendWatches(b, a.Index)
		}
	}
	return b
}

// appendWaits writes what waits to happen to a process.
func (p *Process) appendWaits(b []byte) []byte {
	for _, t := range p.x.tasks {
		if t.actor.Process != p || t.Ended() {
			continue
		}
		if t.unread {
			b = append(append(append(b, '|'), t.label...), " unread"...)
		}
		if t.torn {
			b = strconv.AppendBool(append(append(append(b, '|'), t.label...), " torn "...), t.unaware)
		}
		if t.asleep() {
			b = strconv.AppendBool(append(append(append(b, '|'), t.label...), ' '), t.wouldRepeat())
			b = strconv.AppendBool(append(b, ' '), t.round.repeats)
		}
	}
	return p.appendDue(b)
}

// appendDue writes the timers and messages that are due in a process.
func (p *Process) appendDue(b []byte) []byte {
	for _, t := range p.x.timers {
		if t.actor.Process == p {
			b = strconv.AppendInt(append(b, '|'), int64(t.actor.inside), 10)
			b = strconv.AppendInt(append(b, ' '), int64(t.at-p.x.now), 10)
		}
	}
	for _, t := range p.x.never {
		if t.actor.Process == p {
			b = fmt.Appendf(b, "|%d", t.actor.inside)
		}
	}
	for _, l := range p.x.listeners {
		if l.actor.Process == p {
			b = strconv.AppendInt(append(append(append(b, '|'), l.channel...), ' '), int64(len(l.notify)), 10)
			for _, message := range l.messages {
				b = strconv.AppendQuote(append(b, ' '), message)
			}
		}
	}
	return b
}

// appendNodes writes each node with its history, in an order that does not depend on which is which: nodes are alike.
func (w *stateWriter) appendNodes(b []byte, o Order) []byte {
	if !w.x.Cluster.OnNodes() {
		return b
	}
	var nodes []Fingerprint
	for _, s := range w.x.Cluster.Masters() {
		n := append(append(w.x.Hasher.part[:0], s.Health...), ' ')
		n = w.x.Judge.AppendServer(n, s.Index, o)
		n = append(n, s.Holds.Text...)
		n = w.appendHidden(n, s, o)
		for _, p := range w.x.processes {
			if !p.gone() {
				n = p.answers[s.Index].Append(append(n, '|'))
			}
		}
		nodes, w.x.Hasher.part = append(nodes, w.x.Hasher.sum(n)), n
	}
	if !w.x.EverySymmetry {
		slices.SortFunc(nodes, func(a, b Fingerprint) int { return slices.Compare(a[:], b[:]) })
	}
	for _, n := range nodes {
		b = n.Append(b)
	}
	return b
}

// appendHidden writes what a server has beside what it holds.
func (w *stateWriter) appendHidden(b []byte, s *simredis.Server, o Order) []byte {
	if s.Replica != nil {
		b = fmt.Appendf(b, "|replica %t %s", s.Saved, o.content(w.x, s.Replica))
	}
	if s.Ahead != 0 {
		b = fmt.Appendf(b, "|ahead %d", s.Ahead)
	}
	return w.appendLate(b, s, o)
}

// gone reports whether p has no future, so that its past does not matter.
func (p *Process) gone() bool {
	return p.dead || p.ended() && !slices.ContainsFunc(p.x.tasks, func(t *Task) bool { return t.actor.Process == p && !t.Ended() }) &&
		!slices.ContainsFunc(p.x.timers, func(t *timer) bool { return t.actor.Process == p })
}
