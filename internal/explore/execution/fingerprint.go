package execution

import (
	"fmt"
	"slices"
	"strings"
)

// Fingerprint tells states apart from which the future may differ: what the servers hold, what happened to each process that has a
// future, who sleeps, which timers and messages are due, what is left of the budgets, and what the checker knows.
func (x *Execution) Fingerprint() Fingerprint {
	o := x.order()
	b := x.Hasher.buffer[:0]
	b = append(b, o.content(x, x.Cluster.Stored())...)
	b = x.appendHidden(b, x.Cluster.Servers()[0], o)
	b = x.appendNodes(b, o)
	for _, p := range x.inOrder(o) {
		b = x.appendProcess(b, p, o)
	}
	if !o.alike && slices.ContainsFunc(x.actors, func(a *Actor) bool { return !a.started }) {
		b = fmt.Appendf(b, "|%t", x.Backwards)
	}
	polls := x.polls
	if !x.rivals() {
		polls = 0 // nobody will need them
	}
	b = fmt.Appendf(b, "|%v %d %d %d %d", x.left, polls, x.now, x.idle, x.jumped)
	return x.Hasher.sum(o.rename(x, x.checker.AppendState(b, o)))
}

// inOrder are the processes, in an order of the actors: if that is not the usual one, each is a process.
func (x *Execution) inOrder(o Order) []*Process {
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
func (x *Execution) appendProcess(b []byte, p *Process, o Order) []byte {
	if x.gone(p) {
		b = append(b, "|gone"...)
	} else {
		b = fmt.Appendf(b, "|%d %d %t", p.past[0], p.past[1], p.paused)
		for _, actor := range p.known {
			b = fmt.Appendf(b, " %d", o.Place(int(actor)))
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
func (x *Execution) appendWaits(b []byte, p *Process) []byte {
	for _, t := range x.tasks {
		if t.actor.Process != p || t.Ended() {
			continue
		}
		if t.unread {
			b = fmt.Appendf(b, "|%s unread", t.label)
		}
		if t.asleep() {
			b = fmt.Appendf(b, "|%s %t %d", t.label, x.wouldRepeat(t), t.round.vain)
		}
	}
	return x.appendDue(b, p)
}

// appendDue writes the timers and messages that are due in a process.
func (x *Execution) appendDue(b []byte, p *Process) []byte {
	for _, t := range x.timers {
		if t.actor.Process == p {
			b = fmt.Appendf(b, "|%d %d", t.actor.inside, t.at-x.now)
		}
	}
	for _, t := range x.never {
		if t.actor.Process == p {
			b = fmt.Appendf(b, "|%d", t.actor.inside)
		}
	}
	for _, l := range x.listeners {
		if l.actor.Process == p {
			b = fmt.Appendf(b, "|%s %d %q", l.channel, len(l.notify), l.messages)
		}
	}
	return b
}

// appendNodes writes each node with its history, in an order that does not depend on which is which: nodes are alike.
func (x *Execution) appendNodes(b []byte, o Order) []byte {
	if !x.Cluster.OnNodes() {
		return b
	}
	var nodes []string
	for _, s := range x.Cluster.Masters() {
		n := fmt.Appendf(nil, "|%d ", s.Health)
		n = x.checker.AppendServer(n, s.Index, o)
		n = append(n, s.Holds.Text...)
		n = x.appendHidden(n, s, o)
		for _, p := range x.processes {
			if !x.gone(p) {
				n = fmt.Appendf(n, "|%d", p.answers[s.Index])
			}
		}
		nodes = append(nodes, string(n))
	}
	if !x.EverySymmetry {
		slices.Sort(nodes)
	}
	return append(b, strings.Join(nodes, "")...)
}

// gone reports whether p has no future, so that its past does not matter.
func (x *Execution) gone(p *Process) bool { return p.dead || p.ended() && !x.busy(p) && !x.ticks(p) }
