package recorder

import (
	"lockstep/internal/explore/execution"
	"lockstep/internal/explore/trace"
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
		return r.say("%s's command never arrives", "%s 的命令没有送达", a.Name)
	case execution.Delays:
		return r.say("%s's command is late, and %[1]s is told that nobody answers", "%s 的命令滞留在途中，%[1]s 得知没有响应", a.Name)
	case execution.FailsOver:
		return r.say("a replica takes the master's place", "从节点升为主节点") + r.lost(before)
	case execution.TimesOut:
		return r.say("%s has waited too long", "%s 等待超时", a.Name)
	case execution.ClockJumps:
		return r.say("the clock of %s jumps ahead by %v", "%s 的时钟向前跳 %v", a.Process.Title(), execution.Jump)
	case execution.RedisClockJumps:
		return r.say("Redis's clock jumps ahead by %v", "Redis 的时钟向前跳 %v", execution.Jump) + r.lost(before)
	default:
		return r.say("%s is told that it may have missed a message", "%s 得知自己可能漏了消息", a.Process.Title())
	}
}

// lost tells what became of the lock, if no actor did it.
func (r *Recorder) lost(before view) string {
	switch was, is := before.locks[0], r.locks()[0]; {
	case was.has && !is.has:
		return r.say(": %s is gone", "：%s丢失", r.lockOf(was.holder))
	case is.has && (!was.has || is.holder != was.holder):
		return r.say(": the lock is %s again", "：锁又是%s了", r.whose(is.holder))
	default:
		return ""
	}
}

// befell tells what has happened to the node that the step's command was for.
func (r *Recorder) befell() string {
	switch node := r.step.Node; r.step.Fault {
	case "node-crash":
		return r.say("node %d goes down; ", "节点 %d 宕机；", node)
	case "node-hang":
		return r.say("node %d stops answering; ", "节点 %d 不再响应；", node)
	case "node-restart":
		return r.say("node %d restarts empty; ", "节点 %d 清空重启；", node)
	default:
		return ""
	}
}
