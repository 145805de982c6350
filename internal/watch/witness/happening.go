package witness

import (
	"lockstep/internal/language"
	"lockstep/internal/trace"
)

// happening is what a drawing shows of a kind of event, beside commands and findings.
type happening struct {
	kind  Kind
	title language.Text // for people; empty if the page does not list it
	step  string        // its kind of step
	says  language.Text // a word in braces is a field of the event; {by} is the sale, the replica or the Redis
	rule  language.Text // a line across the drawing: it happens to everybody
}

func happenings() []happening {
	both := language.Both
	return []happening{
		{kind: KindDies, title: both("A replica died", "副本崩溃"),
			step: trace.KindDies, says: both("{by} dies", "{by} 崩溃")},
		{kind: KindStops, title: both("A replica was paused", "副本暂停"),
			step: trace.KindPauses, says: both("{by} stops, timers and all", "{by} 暂停，定时器也停了")},
		{kind: KindGoes, title: both("A replica goes on", "副本恢复运行"),
			step: trace.KindResumes, says: both("{by} goes on", "{by} 恢复运行")},
		{kind: KindHeld, step: trace.KindWaits, says: both(
			"a command of {by}'s is held on its way to {redis}", "{by} 的一条命令在去 {redis} 的途中被扣住")},
		{kind: KindFreed, step: trace.KindWaits, says: both("the command that was held reaches {redis}", "被扣住的命令到达 {redis}")},
		{kind: KindCut, title: both("A replica was cut off from Redis", "副本与 Redis 断开"),
			step: trace.KindWaits, says: both("{by} is cut off from {redis}", "{by} 与 {redis} 断开")},
		{kind: KindMend, title: both("A replica reaches Redis again", "副本重新连上 Redis"),
			step: trace.KindWaits, says: both("{by} reaches {redis} again", "{by} 重新连上 {redis}")},
		{kind: KindMessageLost, step: trace.KindWaits, says: both("a message to {by} is lost on its way", "发给 {by} 的一条消息在途中丢失")},
		{kind: KindUnheard, step: trace.KindWaits, says: both(
			"Redis has done a command of {by}'s, and the reply is held", "Redis 执行了 {by} 的一条命令，响应被扣住")},
		{kind: KindResent, step: trace.KindWaits, says: both(
			"Redis does a command of {by}'s twice: the reply to the first was lost", "Redis 把 {by} 的一条命令执行了两次：第一次的响应丢失")},

		{kind: KindEmptied, title: both("Redis lost what it held", "Redis 的数据丢失"),
			step: trace.KindRestarts, says: both("{by} restarts empty", "{by} 清空重启")},
		{kind: KindCrashes, step: trace.KindCrashes, says: both("{by} goes down", "{by} 宕机")},
		{kind: KindLags, step: trace.KindLags, says: both("{by}'s replica hears nothing more of it", "{by} 的从节点不再收到它的改动")},
		{kind: KindFailsOver, step: trace.KindFailover, says: both(
			"{by} fails over to a replica that has not heard of the lock", "{by} 主从切换，接管的从节点没有收到这把锁")},
		{kind: KindRolledBack, title: both("Redis restarted with an older snapshot", "Redis 重启后回到较早的快照"),
			step: trace.KindRestarts, says: both("{by} restarts with an older snapshot", "{by} 重启，回到较早的快照")},
		{kind: KindEvicted, title: both("Redis evicted keys", "Redis 淘汰了键"),
			step: trace.KindEvicts, says: both("{by} is out of memory, and evicts what has an expiry", "{by} 内存不足，淘汰带过期时间的键")},
		{kind: KindRedisEnds, step: trace.KindTime, rule: both("Redis is gone", "Redis 断开"), says: both(
			"every connection to Redis ends, and new ones are refused", "与 Redis 的连接全部断开，新的连接被拒绝")},
		{kind: KindRedisBegins, step: trace.KindTime, rule: both("Redis is back", "Redis 恢复"), says: both(
			"Redis can be reached again", "又能连上 Redis 了")},
		{kind: KindRedisHangs, step: trace.KindTime, rule: both("Redis hangs", "Redis 卡住"), says: both(
			"Redis hangs: commands wait, and time goes on", "Redis 卡住：命令等待，时间照常流逝")},

		{kind: KindTick, step: trace.KindTime, rule: both("tick {tick}", "第 {tick} 个 tick")},
		{kind: KindMissed, step: trace.KindTime},
		{kind: KindRuns, step: trace.KindBegins, says: both("{by} runs the job", "{by} 运行任务")},
		{kind: KindRan, step: trace.KindEnds, says: both("{by} has run it", "{by} 运行完毕")},
		{kind: KindLoses, step: trace.KindWoken, says: both("{by} is told that it lost the lock", "{by} 得知自己丢了锁")},
	}
}

// happening gives what a drawing shows of an event, if it is not a command.
func (e Event) happening() (happening, bool) {
	for _, h := range happenings() {
		if h.kind == e.Kind {
			return h, true
		}
	}
	return happening{}, false
}

// Sentence says what happened to a replica, to a Redis, or to a sale; "" of another event.
func (e Event) Sentence(in language.Language) string {
	h, _ := e.happening()
	return e.filled(h.says.In(in), in)
}
