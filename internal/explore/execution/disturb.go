package execution

import "lockstep/internal/explore/simredis"

// disturb decides the fate of the command that t is about to send. It reports false if the server does not answer anyway, or has no
// replica.
func (x *Execution) disturb(t *Task, k Kind) bool {
	s := x.Cluster.Servers()[t.to]
	if s.Health != simredis.Well || k == Unsynced && x.Cluster.OnNodes() && s.Index == 0 {
		return false
	}
	switch k {
	case LosesRequest:
		t.fate = requestLost
	case Delays:
		t.fate = delayed
	case Resends:
		t.fate = sentAgain
	case Unsynced:
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
		x.ringAll(x.processes[t.ID])
	default:
	}
}
