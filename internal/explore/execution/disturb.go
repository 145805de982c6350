package execution

import "lockstep/internal/explore/simredis"

// addNetworkFaults adds what the network may do to t's next command, beside losing the reply.
func (m *menu) addNetworkFaults(t *Task) {
	if m.left.LostRequest > 0 {
		m.add(LosesRequest, t.id)
	}
	if m.left.Late > 0 {
		m.add(Delays, t.id)
	}
	if m.left.Resend > 0 {
		m.add(Resends, t.id)
	}
	if m.left.Failover > 0 && m.Cluster.Lagging() == nil {
		m.add(Unsynced, t.id)
	}
}

// disturb decides the fate of the command that t is about to send. It reports false if the server does not answer anyway, or has no
// replica.
func (x *Execution) disturb(t *Task, k Kind) bool {
	s := x.Cluster.Servers()[t.to]
	if s.Health != simredis.Well || k == Unsynced && x.Cluster.OnNodes() && s.Index == 0 {
		return false
	}
	switch k {
	case LosesRequest:
		x.left.LostRequest--
		t.fate = requestLost
	case Delays:
		x.left.Late--
		t.fate = delayed
	case Resends:
		x.left.Resend--
		t.fate = sentAgain
	case Unsynced:
		x.left.Failover--
		t.fate = notSynced
	default:
	}
	return true
}

// strike lets something happen that no command is part of.
func (x *Execution) strike(t Transition) {
	switch t.Kind {
	case FailsOver:
		x.failOver(x.Cluster.Lagging())
	case TimesOut:
		x.timeOut(x.actors[t.ID])
	case ClockJumps:
		x.clockJumps(x.processes[t.ID])
	case RedisClockJumps:
		x.serverJumps(x.Cluster.Servers()[0])
	case WokenInVain:
		x.left.SpuriousWake--
		x.ringAll(x.processes[t.ID])
	default:
	}
}
