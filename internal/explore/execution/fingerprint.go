package execution

import (
	"fmt"
	"slices"
	"strings"
)

// Fingerprint tells states apart from which the future may differ: what the servers hold, what happened to each process that has a
// future, who sleeps, which timers and messages are due, what is left of the budgets, and what the checker knows.
func (x *Execution) Fingerprint() Fingerprint {
	b := x.Hasher.buffer[:0]
	b = append(b, x.Cluster.Stored().Text...)
	b = x.appendHidden(b, x.Cluster.Servers()[0])
	b = x.appendNodes(b)
	for _, p := range x.processes {
		if x.gone(p) {
			b = append(b, "|gone"...)
			continue
		}
		b = fmt.Appendf(b, "|%d %d %t", p.past[0], p.past[1], p.paused)
	}
	b = x.appendWaits(b)
	for _, a := range x.actors {
		if !a.Dead() || x.sentLate(a) {
			b = x.Cluster.AppendWatches(b, a.Index)
		}
	}
	if slices.ContainsFunc(x.actors, func(a *Actor) bool { return !a.started }) {
		b = fmt.Appendf(b, "|%t", x.Backwards)
	}
	polls := x.polls
	if !x.rivals() {
		polls = 0 // nobody will need them
	}
	b = fmt.Appendf(b, "|%v %d %d %d %d", x.left, polls, x.now, x.idle, x.jumped)
	return x.Hasher.sum(x.checker.AppendState(b))
}

// appendWaits writes what waits to happen.
func (x *Execution) appendWaits(b []byte) []byte {
	for _, t := range x.tasks {
		if t.unread && !t.Ended() {
			b = fmt.Appendf(b, "|%s unread", t.label)
		}
		if t.asleep() && !t.Ended() {
			b = fmt.Appendf(b, "|%s %t %d", t.label, x.wouldRepeat(t), t.round.vain)
		}
	}
	for _, t := range x.timers {
		b = fmt.Appendf(b, "|%s %d", t.actor.Name, t.at-x.now)
	}
	for _, t := range x.never {
		b = fmt.Appendf(b, "|%s", t.actor.Name)
	}
	for _, l := range x.listeners {
		b = fmt.Appendf(b, "|%s %t %q", l.channel, l.notify != nil, l.messages)
	}
	return b
}

// appendNodes writes each node with its history, in an order that does not depend on which is which: nodes are alike.
func (x *Execution) appendNodes(b []byte) []byte {
	if !x.Cluster.OnNodes() {
		return b
	}
	var nodes []string
	for _, s := range x.Cluster.Masters() {
		n := fmt.Appendf(nil, "|%d ", s.Health)
		n = x.checker.AppendServer(n, s.Index)
		n = append(n, s.Holds.Text...)
		n = x.appendHidden(n, s)
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
