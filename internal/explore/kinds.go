package explore

import (
	"fmt"
	"strings"

	"lockstep/internal/explore/engine"
	"lockstep/internal/language"
	"lockstep/internal/trace"
)

// telling is how a kind of transition is written down. In its texts, {sale} is the sale that it happens to, {process} the sales of the
// process, {node} the node that a command was for, and {jump} how far a clock jumps.
type telling struct {
	kind  string        // of the step; "": it depends on what the step did
	says  language.Text // what happens; none: that is told from what the step did, between the two below
	first language.Text // what happens to the node before the command
	fate  language.Text // what happens after it to the reply, or to the sender
}

func tellings() [engine.Starts + 1]telling {
	both := language.Both
	return [...]telling{
		engine.TimePasses: {kind: trace.KindTime},
		engine.Slow:       {kind: trace.KindTime},
		engine.Expires:    {kind: trace.KindTime},
		engine.Woken:      {kind: trace.KindWoken, says: both("{process} is woken", "{process} 被唤醒")},
		engine.Unwoken: {kind: trace.KindLostWake,
			says: both("the hint that should wake {process} gets lost", "要唤醒 {process} 的消息丢失")},
		engine.WokenInVain: {kind: trace.KindWoken,
			says: both("{process} is told that it may have missed a message", "{process} 得知自己可能漏了消息")},
		engine.Pauses: {kind: trace.KindPauses,
			says: both("{process} stops, timers and all", "{process} 暂停，定时器也停了")},
		engine.Resumes:  {kind: trace.KindResumes, says: both("{process} goes on", "{process} 恢复运行")},
		engine.Leaves:   {kind: trace.KindLeaves, says: both("{sale}'s client goes away", "{sale} 的客户端断开")},
		engine.TimesOut: {kind: trace.KindTimesOut, says: both("{sale} has waited too long", "{sale} 等待超时")},
		engine.LeavesUnnoticed: {kind: trace.KindLeaves,
			says: both("{sale}'s client goes away, and {sale} has not noticed yet", "{sale} 的客户端断开，{sale} 还没发现")},
		engine.TimesOutUnnoticed: {kind: trace.KindTimesOut,
			says: both("{sale} has waited too long, and has not noticed yet", "{sale} 等待超时，但还没发现")},
		engine.Notices:    {says: both("{sale} notices that it need not wait any more", "{sale} 发现不必再等")},
		engine.StartsLate: {fate: both("; what goroutines it starts begin later", "；它这时启动的 goroutine 晚些才开始")},
		engine.Starts:     {says: both("a goroutine of {sale} begins", "{sale} 的一个 goroutine 开始执行")},
		engine.GoesOn:     {says: both("{sale} gets what it waited for", "{sale} 等到了")},
		engine.DiesBefore: {kind: trace.KindDies, says: both("{sale} dies", "{sale} 崩溃")},
		engine.FailsOver:  {kind: trace.KindFailover, says: both("a replica takes the master's place", "从节点升为主节点")},
		engine.RollsBack: {kind: trace.KindRestarts,
			says: both("Redis restarts with an older snapshot", "Redis 重启，回到较早的快照")},
		engine.Evicts: {kind: trace.KindEvicts,
			says: both("Redis is out of memory, and evicts what has an expiry", "Redis 内存不足，淘汰带过期时间的键")},
		engine.ClockJumps: {kind: trace.KindClock,
			says: both("the clock of {process} jumps ahead by {jump}", "{process} 的时钟向前跳 {jump}")},
		engine.RedisClockJumps: {kind: trace.KindClock,
			says: both("Redis's clock jumps ahead by {jump}", "Redis 的时钟向前跳 {jump}")},
		engine.LosesRequest: {kind: trace.KindLostRequest,
			says: both("{sale}'s command never arrives", "{sale} 的命令没有送达")},
		engine.NeverArrives: {kind: trace.KindNeverComes,
			says: both("the connection is broken: the rest of {sale}'s pipeline never arrives", "连接断了：{sale} 的 pipeline 余下的命令没有送达")},
		engine.Delays: {kind: trace.KindLate,
			says: both("{sale}'s command is late, and {sale} is told that nobody answers", "{sale} 的命令滞留在途中，{sale} 得知没有响应")},

		engine.LosesReply: {kind: trace.KindLostReply, fate: both(", but never gets the reply", "，但收不到响应")},
		engine.Resends: {kind: trace.KindResends,
			fate: both(", but never gets the reply: its client sends the command again", "，但收不到响应：客户端再发一次这条命令")},
		engine.Arrives: {kind: trace.KindArrives, fate: both(": the command was late", "：这条命令迟到了")},
		engine.Unsynced: {kind: trace.KindUnsynced,
			fate: both("; a replica gets neither this nor what follows", "；从节点收不到这次改动，也收不到后面的")},
		engine.Unsaved: {kind: trace.KindUnsynced,
			fate: both("; neither this nor what follows is in Redis's snapshot", "；这次改动和后面的都不在 Redis 的快照里")},
		engine.NodeClockJumps: {kind: trace.KindNodeClock,
			fate: both(", on a node whose clock has jumped ahead", "，而这个节点的时钟已经向前跳了")},
		engine.DiesAfter: {kind: trace.KindDies, fate: both(", and dies", "，然后崩溃")},
		engine.PausesAfter: {kind: trace.KindReadsLate,
			fate: both(", but stops before it has read the reply", "，但还没读到响应就暂停了")},
		engine.NodeCrashes:  {first: both("node {node} goes down; ", "节点 {node} 宕机；")},
		engine.NodeHangs:    {first: both("node {node} stops answering; ", "节点 {node} 不再响应；")},
		engine.NodeRestarts: {first: both("node {node} restarts empty; ", "节点 {node} 清空重启；")},
	}
}

// fill says a text of a's step; nil for a step of nobody's.
func (r *Recorder) fill(text language.Text, a *engine.Actor) string {
	sale, process := "", ""
	if a != nil {
		sale, process = a.Name, a.Process.Title()
	}
	return strings.NewReplacer(
		"{sale}", sale, "{process}", process, "{node}", fmt.Sprint(r.step.Node), "{jump}", engine.Jump.String(),
	).Replace(text.In(r.x.Scenario.Language))
}
