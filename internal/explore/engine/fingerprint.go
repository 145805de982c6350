package engine

import (
	"fmt"
	"slices"
	"strconv"

	"lockstep/internal/explore/simredis"
)

// Fingerprint tells states apart from which the future may differ: what the servers hold, what happened to each process that has a
// future, who sleeps, which timers and messages are due, what is left of the budgets, and what the checker knows.
func (x *fingerprints) Fingerprint() Fingerprint {
	o := x.order()
	b := x.Hasher.buffer[:0]
	b = append(b, o.content(&x.cast, x.Cluster.Stored())...)
	b = x.appendHidden(b, x.Cluster.Servers()[0], o)
	b = x.appendNodes(b, o)
	for _, p := range x.sorted(o) {
		b = x.appendProcess(b, p, o)
	}
	for k, left := range x.budgets {
		if left != nil && *left > 0 {
			b = strconv.AppendInt(append(b, '|', byte(k)), int64(*left), 10) //nolint:gosec // there are few
		}
	}
	for _, n := range [...]int{int(x.now), x.idle, int(x.jumped)} {
		b = strconv.AppendInt(append(b, ' '), int64(n), 10)
	}
	return x.Hasher.sum(o.rename(&x.cast, x.checker.AppendState(b, o)))
}

// sorted returns the processes, in an order of the actors: if that is not the usual one, each is a process.
func (x *fingerprints) sorted(o Order) []*Process {
	if !o.alike {
		return x.processes
	}
	all := make([]*Process, len(o.Actors))
	for place, actor := range o.Actors {
		all[place] = x.actors[actor].Process
	}
	return all
}

// appendProcess writes what happened to a process, and what waits to happen to it.
func (x *fingerprints) appendProcess(b []byte, p *Process, o Order) []byte {
	if x.gone(p) {
		b = append(b, "|gone"...)
	} else {
		b = strconv.AppendBool(p.past.Append(append(b, '|')), p.paused)
		for _, actor := range p.known {
			b = strconv.AppendInt(append(b, ' '), int64(o.Places[actor]), 10)
		}
	}
	b = x.appendWaits(b, p)
	for _, a := range p.actors {
		if !a.Dead() || x.sentLate(a) {
			b = x.Cluster.AppendWatches(b, a.Index)
		}
	}
	return b
}

// appendWaits writes what waits to happen to a process.
func (x *fingerprints) appendWaits(b []byte, p *Process) []byte {
	for _, t := range x.tasks {
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
			b = strconv.AppendBool(append(append(append(b, '|'), t.label...), ' '), x.wouldRepeat(t))
			b = strconv.AppendBool(append(b, ' '), t.round.repeats)
		}
	}
	return x.appendDue(b, p)
}

// appendDue writes the timers and messages that are due in a process.
func (x *fingerprints) appendDue(b []byte, p *Process) []byte {
	for _, t := range x.timers {
		if t.actor.Process == p {
			b = strconv.AppendInt(append(b, '|'), int64(t.actor.inside), 10)
			b = strconv.AppendInt(append(b, ' '), int64(t.at-x.now), 10)
		}
	}
	for _, t := range x.never {
		if t.actor.Process == p {
			b = fmt.Appendf(b, "|%d", t.actor.inside)
		}
	}
	for _, l := range x.listeners {
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
func (x *fingerprints) appendNodes(b []byte, o Order) []byte {
	if !x.Cluster.OnNodes() {
		return b
	}
	var nodes []Fingerprint
	for _, s := range x.Cluster.Masters() {
		n := append(append(x.Hasher.part[:0], s.Health...), ' ')
		n = x.checker.AppendServer(n, s.Index, o)
		n = append(n, s.Holds.Text...)
		n = x.appendHidden(n, s, o)
		for _, p := range x.processes {
			if !x.gone(p) {
				n = p.answers[s.Index].Append(append(n, '|'))
			}
		}
		nodes, x.Hasher.part = append(nodes, x.Hasher.sum(n)), n
	}
	if !x.EverySymmetry {
		slices.SortFunc(nodes, func(a, b Fingerprint) int { return slices.Compare(a[:], b[:]) })
	}
	for _, n := range nodes {
		b = n.Append(b)
	}
	return b
}

// appendHidden writes what a server has beside what it holds.
func (x *fingerprints) appendHidden(b []byte, s *simredis.Server, o Order) []byte {
	if s.Replica != nil {
		b = fmt.Appendf(b, "|replica %t %s", s.Saved, o.content(&x.cast, s.Replica))
	}
	if s.Ahead != 0 {
		b = fmt.Appendf(b, "|ahead %d", s.Ahead)
	}
	return x.appendLate(b, s, o)
}

// gone reports whether p has no future, so that its past does not matter.
func (x *scheduler) gone(p *Process) bool {
	return p.dead || p.ended() && !slices.ContainsFunc(x.tasks, func(t *Task) bool { return t.actor.Process == p && !t.Ended() }) &&
		!slices.ContainsFunc(x.timers, func(t *timer) bool { return t.actor.Process == p })
}
