package execution

import (
	"slices"

	"lockstep/internal/explore/scenario"
	"lockstep/internal/explore/simredis"
)

// menu is the list of what can happen next, in a fixed order, in the making.
type menu struct {
	*Execution
	list       []Transition
	lastResort bool
}

// add adds that something can happen, unless it is a fault whose budget is used up.
func (m *menu) add(k Kind, id int) {
	if left := m.budgets[k]; left != nil && *left == 0 {
		return
	}
	m.list = append(m.list, Transition{k, uint16(id)}) //nolint:gosec // there are few
}

// Transitions lists what can happen next. There is nothing when everybody has finished, or nobody can go on. The list is good until
// the next call.
func (x *Execution) Transitions() []Transition {
	m := menu{Execution: x, list: x.options[:0]}
	if !m.over() {
		m.addMoves()
		m.addMessages()
		active := len(m.list) > 0
		m.addProcessFaults()
		m.addLeaves()
		m.addTime(active)
		m.addFailover()
		m.addJumps()
		m.addTimeouts()
		m.addSpuriousWakes()
	}
	m.addArrivals()
	hopeful := slices.ContainsFunc(m.list, Transition.hopeful)
	if !hopeful {
		m.list = m.list[:0] // faults alone bring nobody on
	}
	if !m.over() {
		m.addPolls(hopeful)
	}
	x.options, x.desperate, x.quiet = m.list, m.lastResort, len(m.list) > 0 && (!hopeful || m.waitsInVain())
	return m.list
}

// waitsInVain reports whether all that can bring somebody on is time, and that will bring rounds in vain alone.
func (m *menu) waitsInVain() bool {
	return m.onlyPolls() && !slices.ContainsFunc(m.list, func(t Transition) bool { return t.hopeful() && t.Kind != TimePasses })
}

// Quiet reports whether the last Transitions are waiters that ask in vain, and nothing else.
func (x *Execution) Quiet() bool { return x.quiet }

// Beyond reports whether the schedule has left out what waiters might do that ask in vain more often than the scenario says.
func (x *Execution) Beyond() bool { return x.beyond }

// LastResort reports whether the last Transitions are those that are there before everybody is given up for stuck.
func (x *Execution) LastResort() bool { return x.desperate }

// addMoves adds the commands, and what may happen to each.
func (m *menu) addMoves() {
	for _, t := range m.tasks {
		if !m.movable(t) {
			continue
		}
		m.add(Moves, t.id)
		m.add(LosesReply, t.id)
		m.add(DiesAfter, t.id)
		m.add(LosesRequest, t.id)
		m.add(Delays, t.id)
		m.add(Resends, t.id)
		if m.Cluster.Lagging() == nil {
			m.add(Unsynced, t.id)
		}
		m.addNodeFaults(t)
	}
}

// addNodeFaults adds what may have happened to a node by the time t's command comes to it: before, nobody could tell.
func (m *menu) addNodeFaults(t *Task) {
	if t.pending == nil || t.to == 0 {
		return
	}
	s := m.Cluster.Servers()[t.to]
	if s.Health != simredis.Well {
		return
	}
	m.add(NodeCrashes, t.id)
	m.add(NodeHangs, t.id)
	if len(s.Holds.Keys) > 0 {
		m.add(NodeRestarts, t.id)
	}
	if s.Expires() {
		m.add(NodeClockJumps, t.id)
	}
}

// addMessages adds the messages that are due.
func (m *menu) addMessages() {
	for i, p := range m.processes {
		if m.due(p) == nil || p.paused || p.dead {
			continue
		}
		m.add(Woken, i)
		m.add(Unwoken, i)
	}
}

// addProcessFaults adds pauses and crashes that no command is part of, and the end of pauses; then, as they are harder to read, pauses
// after a command.
func (m *menu) addProcessFaults() {
	moves := len(m.list)
	for i, p := range m.processes {
		switch {
		case p.dead || !p.begun() || p.ended():
		case p.paused:
			m.add(Resumes, i)
		default:
			m.add(Pauses, i)
			if t := m.sender(p); t != nil {
				m.add(DiesBefore, t.id)
			}
		}
	}
	for _, t := range m.list[:moves] {
		if t.Kind == Moves {
			m.add(PausesAfter, int(t.ID))
		}
	}
}

func (m *menu) addLeaves() {
	for i, a := range m.actors {
		if a.started && !a.finished && !a.cancelled && !a.Dead() {
			m.add(Leaves, i)
		}
	}
}

// addTime adds that time passes: by itself if nobody is active, and otherwise as a fault. If nothing is due, those who would repeat their
// last round try once more before they are given up for stuck.
func (m *menu) addTime(active bool) {
	expiry, next := m.Cluster.NextExpiry(), m.nextTimer()
	switch {
	case !active && (expiry > 0 || next != nil || m.mayIdle()):
		m.add(TimePasses, 0)
	case !active && len(m.list) == 0:
		for _, t := range m.tasks {
			if t.asleep() && t.live() && t.round.vain == 0 {
				m.lastResort = true
				m.add(Moves, t.id)
			}
		}
	case active && next != nil && (expiry == 0 || next.at < m.now+expiry):
		m.add(Slow, 0)
	}
	if active && expiry > 0 {
		m.add(Expires, 0)
	}
}

// addPolls adds the waiters that would ask in vain: they may count how often. Beside others they do so as often as the scenario says,
// and alone without a bound.
func (m *menu) addPolls(hopeful bool) {
	for _, t := range m.tasks {
		switch {
		case m.lastResort || !t.live() || !t.asleep() || !m.wouldRepeat(t):
		case !hopeful:
			m.add(PollsOn, t.id)
		case !m.rivals(): // it waits for what time alone will bring
		case m.polls > 0:
			m.add(Polls, t.id)
		default:
			m.beyond = true
		}
	}
}

// rivals reports whether more than one actor lives, so that it may matter how often one of them has asked.
func (x *Execution) rivals() bool {
	n := 0
	for _, a := range x.actors {
		if !a.finished && !a.Dead() {
			n++
		}
	}
	return n > 1
}

// movable reports whether t can do something by itself. A waiter that tried in vain cannot, until it would learn something else.
func (m *menu) movable(t *Task) bool {
	switch {
	case !t.live():
		return false
	case t == t.actor.main && !t.actor.started:
		return m.mayStart(t.actor)
	case t.pending != nil:
		return true
	default:
		return t.asleep() && !m.wouldRepeat(t)
	}
}

// mayIdle reports whether time may pass although nothing is due: somebody tries who may find that it has. Twice in a row is enough.
func (m *menu) mayIdle() bool {
	return m.idle < 2 && slices.ContainsFunc(m.tasks, func(t *Task) bool {
		return t.asleep() && t.live() && (t.round.looked || !t.round.sameAnswer(m.Cluster, m.now+scenario.TTL))
	})
}

// mayStart keeps actors that start alike in order: which of them comes first is a matter of names. It is explored both forwards and
// backwards, because code may compare names: with the actors in reverse order, or, if they are interchangeable, their names.
func (m *menu) mayStart(a *Actor) bool {
	if m.EverySymmetry || m.EveryStart {
		return true
	}
	before := m.actors[:a.Index]
	if m.Backwards && !m.alike() {
		before = m.actors[a.Index+1:]
	}
	return !slices.ContainsFunc(before, func(b *Actor) bool {
		return !b.started && b.once == a.once && (b.Process == a.Process || m.Scenario.Alike())
	})
}

// over reports whether every actor has finished or died.
func (m *menu) over() bool {
	return !slices.ContainsFunc(m.actors, func(a *Actor) bool { return !a.finished && !a.Dead() })
}
