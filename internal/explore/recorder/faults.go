package recorder

import (
	"fmt"

	"lockstep/internal/explore/execution"
	"lockstep/internal/trace"
)

// kindOfFault is the kind of a step in which a rarer fault happens, "" of any other.
func kindOfFault(k execution.Kind) string {
	switch k {
	case execution.LosesRequest:
		return trace.KindLostRequest
	case execution.Delays:
		return trace.KindLate
	case execution.Arrives:
		return trace.KindArrives
	case execution.Resends:
		return trace.KindResends
	case execution.Unsynced:
		return trace.KindUnsynced
	case execution.FailsOver:
		return trace.KindFailover
	case execution.TimesOut:
		return trace.KindTimesOut
	case execution.ClockJumps, execution.RedisClockJumps:
		return trace.KindClock
	case execution.NodeClockJumps:
		return trace.KindNodeClock
	case execution.WokenInVain:
		return trace.KindWoken
	default:
		return ""
	}
}

// saysOfFault tells of a fault that is not a command that took effect. The actor is nil if it happens to Redis.
func (r *Recorder) saysOfFault(k execution.Kind, before view, a *execution.Actor) string {
	switch k {
	case execution.LosesRequest:
		return a.Name + "'s command never arrives"
	case execution.Delays:
		return a.Name + "'s command is late, and " + a.Name + " is told that nobody answers"
	case execution.FailsOver:
		return "a replica takes the master's place" + r.lost(before)
	case execution.TimesOut:
		return a.Name + " has waited too long"
	case execution.ClockJumps:
		return "the clock of " + a.Process.Title() + " jumps ahead by " + execution.Jump.String()
	case execution.RedisClockJumps:
		return "Redis's clock jumps ahead by " + execution.Jump.String() + r.lost(before)
	default:
		return a.Process.Title() + " is told that it may have missed a message"
	}
}

// lost tells what became of the lock, if no actor did it.
func (r *Recorder) lost(before view) string {
	switch was, is := before.locks[0], r.locks()[0]; {
	case was.has && !is.has:
		return ": " + r.whose(was.holder) + " lock is gone"
	case is.has && (!was.has || is.holder != was.holder):
		return ": the lock is " + r.whose(is.holder) + " again"
	default:
		return ""
	}
}

// befell tells what has happened to the node that the step's command was for.
func (r *Recorder) befell() string {
	did := map[string]string{"node-crash": "goes down", "node-hang": "stops answering", "node-restart": "restarts empty"}[r.step.Fault]
	if did == "" {
		return ""
	}
	return fmt.Sprintf("node %d %s; ", r.step.Node, did)
}
