package engine

import (
	"fmt"
	"slices"
	"strconv"

	"lockstep/internal/explore/simredis"
)

// Fingerprint returns the hash of the execution's state: all that its future may depend on. It covers the contents of the servers, the
// history of each process that has a future, the sleeping tasks, the timers and messages due, the remaining fault budget, and the judge's
// own state.
func (x *Execution) Fingerprint() Fingerprint { return (&stateWriter{x}).fingerprint() }

// stateWriter serializes the state of an execution for its hash.
type stateWriter struct{ x *Execution }

// fingerprint returns the hash for Execution.Fingerprint.
func (w *stateWriter) fingerprint() Fingerprint {
	o := w.canonicalOrder()
	b := w.x.Hasher.buffer[:0]
	b = append(b, o.contentOf(w.x, w.x.Cluster.MainState())...)
	b = w.appendServerExtras(b, w.x.Cluster.Servers()[0], o)
	b = w.appendNodes(b, o)
	for _, p := range w.processesInOrder(o) {
		b = p.appendProcess(b, o)
	}
	for k := range w.x.kindTable {
		if left := w.x.budget[w.x.kindTable[k].budget]; left > 0 {
			b = strconv.AppendInt(append(b, '|', byte(k)), int64(left), 10) //nolint:gosec // fits: few values
		}
	}
	for _, n := range [...]int{int(w.x.now), w.x.idleSteps, int(w.x.totalClockJump)} {
		b = strconv.AppendInt(append(b, ' '), int64(n), 10)
	}
	return w.x.Hasher.sum(o.rename(w.x, w.x.Judge.AppendState(b, o)))
}

// processesInOrder returns the processes in the order o of the actors. Only if each process has one actor does an order rename actors.
func (w *stateWriter) processesInOrder(o Order) []*Process {
	if !o.renamesActors {
		return w.x.processes
	}
	all := make([]*Process, len(o.Actors))
	for place, actor := range o.Actors {
		all[place] = w.x.actors[actor].Process
	}
	return all
}

// appendProcess appends a process's history, its waits, timers and messages, and the watches of its actors.
func (p *Process) appendProcess(b []byte, o Order) []byte {
	if p.hasNoFuture() {
		b = append(b, "|gone"...)
	} else {
		b = strconv.AppendBool(p.hash.Append(append(b, '|')), p.paused)
		for _, actor := range p.knownActors {
			b = strconv.AppendInt(append(b, ' '), int64(o.Places[actor]), 10)
		}
	}
	b = p.appendPending(b)
	for _, a := range p.actors {
		if !a.Dead() || a.hasLateCommand() {
			b = p.x.Cluster.AppendWatches(b, a.Index)
		}
	}
	return b
}

// appendPending appends the unfinished waits of a process's tasks, and its timers and messages.
func (p *Process) appendPending(b []byte) []byte {
	for _, t := range p.x.tasks {
		if t.actor.Process != p || t.Ended() {
			continue
		}
		if t.replyUnread {
			b = append(append(append(b, '|'), t.label...), " unread"...)
		}
		if t.undecided {
			b = strconv.AppendBool(append(append(append(b, '|'), t.label...), " torn "...), t.endUnnoticed)
		}
		if t.isInBriefSleep() {
			b = strconv.AppendBool(append(append(append(b, '|'), t.label...), ' '), t.wouldRepeat())
			b = strconv.AppendBool(append(b, ' '), t.round.repeatsLast)
		}
	}
	return p.appendDue(b)
}

// appendDue appends the timers and messages that are due in a process.
func (p *Process) appendDue(b []byte) []byte {
	for _, t := range p.x.timers {
		if t.actor.Process == p {
			b = strconv.AppendInt(append(b, '|'), int64(t.actor.indexInProcess), 10)
			b = strconv.AppendInt(append(b, ' '), int64(t.dueAt-p.x.now), 10)
		}
	}
	for _, t := range p.x.timeoutTimers {
		if t.actor.Process == p {
			b = fmt.Appendf(b, "|%d", t.actor.indexInProcess)
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

// appendNodes appends each node with its history. Nodes are interchangeable, so their hashes are sorted.
func (w *stateWriter) appendNodes(b []byte, o Order) []byte {
	if !w.x.Cluster.OnNodes() {
		return b
	}
	var nodes []Fingerprint
	for _, s := range w.x.Cluster.Masters() {
		n := append(append(w.x.Hasher.nodeBuffer[:0], s.Health...), ' ')
		n = w.x.Judge.AppendServer(n, s.Index, o)
		n = append(n, s.State.Text...)
		n = w.appendServerExtras(n, s, o)
		for _, p := range w.x.processes {
			if !p.hasNoFuture() {
				n = p.nodeHashes[s.Index].Append(append(n, '|'))
			}
		}
		nodes, w.x.Hasher.nodeBuffer = append(nodes, w.x.Hasher.sum(n)), n
	}
	if !w.x.EverySymmetry {
		slices.SortFunc(nodes, func(a, b Fingerprint) int { return slices.Compare(a[:], b[:]) })
	}
	for _, n := range nodes {
		b = n.Append(b)
	}
	return b
}

// appendServerExtras appends a server's replica or snapshot, its clock offset, and the late commands to it.
func (w *stateWriter) appendServerExtras(b []byte, s *simredis.Server, o Order) []byte {
	if s.Standby != nil {
		b = fmt.Appendf(b, "|replica %t %s", s.StandbyIsSnapshot, o.contentOf(w.x, s.Standby))
	}
	if s.ClockOffset != 0 {
		b = fmt.Appendf(b, "|ahead %d", s.ClockOffset)
	}
	return w.appendLate(b, s, o)
}

// hasNoFuture reports whether nothing can happen in p any more, so that its history does not matter.
func (p *Process) hasNoFuture() bool {
	return p.dead || p.hasEnded() && !slices.ContainsFunc(p.x.tasks, func(t *Task) bool { return t.actor.Process == p && !t.Ended() }) &&
		!slices.ContainsFunc(p.x.timers, func(t *timer) bool { return t.actor.Process == p })
}
