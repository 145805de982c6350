package witness

import (
	"cmp"
	"strconv"
	"strings"

	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/service/reason"
	"lockstep/internal/trace"
)

// commandResult is a verb and its outcome.
type commandResult struct {
	verb    Verb    // effect of the command
	outcome Outcome // result of that effect
}

// commandTexts returns the sentence about each result of a command. fill replaces the words in braces.
func commandTexts() map[commandResult]language.Text {
	both := language.Both
	refused, over := both("{by} is refused", "{by} 被拒绝"), both("{by} is refused: its run is over", "{by} 被拒绝：它那一轮已经结束")
	return map[commandResult]language.Text{
		{Takes, Done}:       both("{by} takes the lock", "{by} 加锁成功"),
		{Takes, Again}:      both("{by} updates its lock's reentrancy count", "{by} 更新自己锁的重入次数"),
		{Takes, Refused}:    both("{by} finds the lock held", "{by} 发现锁被占用"),
		{Looks, Done}:       both("{by} looks at the lock: {holder} has it", "{by} 发现锁是 {holder} 的"),
		{Looks, ByNobody}:   both("{by} finds no lock", "{by} 发现锁不存在"),
		{Renews, Done}:      both("{by} renews its lock", "{by} 给自己的锁续期"),
		{Renews, ByOther}:   both("{by} finds that the lock is no longer its own", "{by} 发现锁已经不是自己的"),
		{Renews, ByNobody}:  both("{by} finds no lock", "{by} 发现锁不存在"),
		{Removes, Done}:     both("{by} gives the lock back", "{by} 释放锁"),
		{Removes, Passed}:   both("{by} gives the lock back to the queue", "{by} 释放锁，轮到队首"),
		{Removes, Again}:    both("{by} keeps the lock", "{by} 仍持有锁"),
		{Removes, ByOther}:  both("{by} leaves the lock alone: it belongs to another sale by now", "{by} 不动这把锁：它已经是别人的"),
		{Removes, ByNobody}: both("{by} finds that the lock is gone", "{by} 发现锁已经不在了"),
		{Removes, NotOwner}: both("{by} finds that the lock is no longer its own", "{by} 发现锁已经不是自己的"),
		{Reads, Done}:       both("{by} reads stock {stock}", "{by} 读到库存 {stock}"),
		{Writes, Done}:      both("{by} writes stock {stock}", "{by} 写入库存 {stock}"),
		{Writes, Again}:     both("the ledger already has {by}'s order: nothing is written", "账本里已有 {by} 的订单：什么也不写"),
		{Reads, Refused}:    refused, {Writes, Refused}: refused, {Reads, Over}: over, {Writes, Over}: over,
	}
}

// sendingTexts returns the sentence about each command that is on its way.
func sendingTexts() map[Verb]language.Text {
	both := language.Both
	return map[Verb]language.Text{
		Takes: both("{by} asks for the lock", "{by} 请求加锁"), Looks: both("{by} asks whose the lock is", "{by} 查询锁是谁的"),
		Renews: both("{by} asks to renew its lock", "{by} 请求给自己的锁续期"), Removes: both("{by} sends its release", "{by} 请求释放锁"),
		Reads: both("{by} asks for the stock", "{by} 请求读库存"), Writes: both("{by} sends its write", "{by} 请求写入库存"),
	}
}

// manualRemovalTexts returns the sentence about each outcome of a removal of the lock by hand.
func manualRemovalTexts() map[Outcome]language.Text {
	return map[Outcome]language.Text{
		Done:     language.Both("somebody removes the lock by hand", "有人手动删除了锁"),
		ByNobody: language.Both("somebody tries to remove the lock by hand, but there is none", "有人要手动删除锁，但没有锁"),
	}
}

// commandSentence returns the sentence about a command.
func commandSentence(in language.Language, event Event) string {
	c := event.Command
	what := commandTexts()[commandResult{c.Verb, c.Outcome}]
	switch {
	case c.Outcome == Unknown && event.Node > 0:
		return event.fill(language.Both("{by} has no reply from node {node}", "{by} 没有收到节点 {node} 的响应").In(in), in)
	case c.Outcome == Unknown:
		what = language.Both("{by} gets no reply", "{by} 没有收到响应")
	case actorOf(event) == "":
		what = manualRemovalTexts()[c.Outcome]
	case c.Verb == Looks && c.Reply == "nil":
		what = commandTexts()[commandResult{Looks, ByNobody}]
	}
	return event.fill(event.withNode(what.In(in), in), in)
}

// sendingSentence returns the sentence about a command that is on its way; empty if it has none.
func sendingSentence(in language.Language, event Event) string {
	return event.fill(event.withNode(sendingTexts()[event.Command.Verb].In(in), in), in)
}

// withNode appends the node of a command to a text, if there are several.
func (e Event) withNode(text string, in language.Language) string {
	if e.Node == 0 || text == "" {
		return text
	}
	return text + language.Both(" on node {node}", "（节点 {node}）").In(in)
}

// pollsSentence returns a sentence about the unrecorded attempts of a sale before a command.
func pollsSentence(in language.Language, event Event) string {
	english, chinese := "{by} asks {times} more times, in vain", "{by} 又尝试加锁 {times} 次，都没有成功"
	if event.Node > 0 {
		english, chinese = "{by} asks node {node} {times} more times, in vain", "{by} 又在节点 {node} 上尝试加锁 {times} 次，都没有成功"
	}
	if event.Command.Polls == 1 {
		english = strings.Replace(english, "{times} more times", "once more", 1)
		chinese = strings.Replace(chinese, "，都没有成功", "，没有成功", 1)
	}
	return event.fill(language.Both(english, chinese).In(in), in)
}

// endSentence returns the sentence about the end of a sale.
func endSentence(in language.Language, event Event) string {
	if event.Error == "" {
		return event.fill(language.Both("{by} has sold", "{by} 卖出一件").In(in), in)
	}
	return event.fill(language.Both("{by} fails: ", "{by} 失败：").In(in), in) + reason.WithCode(event.Code).In(in, event.Error)
}

// fill replaces the words in braces of a sentence by the fields of an event.
func (e Event) fill(text string, in language.Language) string {
	by, c := cmp.Or(e.Sale, e.Replica), Command{}
	switch {
	case e.Command != nil:
		by, c = actorOf(e), *e.Command
	case by == "":
		by = localRedisName(in, e.Node)
	}
	return strings.NewReplacer(
		"{by}", by, " {redis}", withSpaceBefore(localRedisName(in, e.Node)), "{node}", strconv.Itoa(e.Node),
		"{tick}", strconv.Itoa(e.Tick), "{times}", strconv.Itoa(c.Polls),
		"{stock}", strconv.FormatInt(c.Stock, 10), "{holder}", strings.TrimPrefix(c.Reply, lock.Key+":"),
	).Replace(text)
}

// eventText has the texts of a kind of event other than commands, and the way in which such an event is drawn.
type eventText struct {
	kind     Kind          // kind that the texts are for
	title    language.Text // title on the page; empty if the page does not list the kind
	stepKind string        // kind of its step in a trace
	sentence language.Text // sentence about the event; {by} is the sale, the replica or the Redis
	ruler    language.Text // caption of a line across all lifelines, for an event that concerns everybody; empty: no such line
	isCache  bool          // the texts are for a job that computes a cached value, see Event.Cache
}

// eventTexts returns the texts of all kinds of events that are drawn and are neither commands nor the end of a sale.
func eventTexts() []eventText {
	both := language.Both
	return []eventText{
		{kind: KindDies, title: both("A replica died", "实例崩溃"), stepKind: trace.KindDies, sentence: both("{by} dies", "{by} 崩溃")},
		{kind: KindStops, title: both("A replica was paused", "实例暂停"),
			stepKind: trace.KindPauses, sentence: both("{by} stops, timers and all", "{by} 暂停，定时器也停了")},
		{kind: KindResumes, title: both("A replica goes on", "实例恢复运行"), stepKind: trace.KindResumes, sentence: both("{by} goes on", "{by} 恢复运行")},
		{kind: KindCommandHeld, stepKind: trace.KindWaits,
			sentence: both("a command of {by} is held on its way to {redis}", "{by} 的一条命令在去 {redis} 的途中被扣住")},
		{kind: KindCommandReleased, stepKind: trace.KindWaits, sentence: both("the command that was held reaches {redis}", "被扣住的命令到达 {redis}")},
		{kind: KindCutOff, title: both("A replica was cut off from Redis", "实例与 Redis 断开"),
			stepKind: trace.KindWaits, sentence: both("{by} is cut off from {redis}", "{by} 与 {redis} 断开")},
		{kind: KindReconnects, title: both("A replica reaches Redis again", "实例重新连上 Redis"),
			stepKind: trace.KindWaits, sentence: both("{by} reaches {redis} again", "{by} 重新连上 {redis}")},
		{kind: KindMessageLost, stepKind: trace.KindWaits, sentence: both("a message to {by} is lost on its way", "发给 {by} 的一条消息在途中丢失")},
		{kind: KindReplyHeld, stepKind: trace.KindWaits, sentence: both(
			"Redis has executed a command of {by}, and the reply is held", "Redis 执行了 {by} 的一条命令，响应被扣住")},
		{kind: KindCommandResent, stepKind: trace.KindWaits, sentence: both(
			"Redis executes a command of {by} twice: the first reply was lost", "Redis 把 {by} 的一条命令执行了两次：第一次的响应丢失")},

		{kind: KindEmptied, title: both("Redis lost what it held", "Redis 的数据丢失"),
			stepKind: trace.KindRestarts, sentence: both("{by} restarts empty", "{by} 清空重启")},
		{kind: KindCrashes, stepKind: trace.KindCrashes, sentence: both("{by} goes down", "{by} 宕机")},
		{kind: KindReplicationStops, stepKind: trace.KindLags,
			sentence: both("{by}'s replica no longer receives its changes", "{by} 的从节点不再收到它的改动")},
		{kind: KindFailsOver, stepKind: trace.KindFailover, sentence: both(
			"{by} fails over to a replica that has not heard of the lock", "{by} 主从切换，接管的从节点没有收到这把锁")},
		{kind: KindRolledBack, title: both("Redis restarted with an older snapshot", "Redis 重启后回到较早的快照"),
			stepKind: trace.KindRestarts, sentence: both("{by} restarts with an older snapshot", "{by} 重启，回到较早的快照")},
		{kind: KindEvicted, title: both("Redis evicted keys", "Redis 淘汰了键"),
			stepKind: trace.KindEvicts, sentence: both("{by} is out of memory, and evicts what has an expiry", "{by} 内存不足，淘汰带过期时间的键")},
		{kind: KindRedisUnreachable, stepKind: trace.KindTime, ruler: both("Redis is gone", "Redis 断开"), sentence: both(
			"every connection to Redis ends, and new ones are refused", "与 Redis 的连接全部断开，新的连接被拒绝")},
		{kind: KindRedisReachable, stepKind: trace.KindTime, ruler: both("Redis is back", "Redis 恢复"), sentence: both(
			"Redis can be reached again", "又能连上 Redis 了")},
		{kind: KindRedisHangs, stepKind: trace.KindTime, ruler: both("Redis hangs", "Redis 卡住"), sentence: both(
			"Redis hangs: commands wait, and time goes on", "Redis 卡住：命令等待，时间照常流逝")},

		{kind: KindTickBegins, stepKind: trace.KindTime, ruler: both("tick {tick}", "第 {tick} 个 tick")},
		{kind: KindTickMissed, stepKind: trace.KindTime},
		{kind: KindRunBegins, stepKind: trace.KindBegins, sentence: both("{by} runs the job", "{by} 运行任务")},
		{kind: KindRunEnds, stepKind: trace.KindEnds, sentence: both("{by} has run the job", "{by} 运行完毕")},
		{isCache: true, kind: KindTickBegins, stepKind: trace.KindTime, ruler: both("expired", "值过期"),
			sentence: both("the cached value expires", "缓存的值过期")},
		{isCache: true, kind: KindTickMissed, stepKind: trace.KindTime},
		{isCache: true, kind: KindRunBegins, stepKind: trace.KindBegins, sentence: both("{by} computes the value", "{by} 计算这个值")},
		{isCache: true, kind: KindRunEnds, stepKind: trace.KindEnds, sentence: both("{by} has computed the value", "{by} 计算完毕")},
		{isCache: true, kind: KindLockRefused, stepKind: trace.KindWaits,
			sentence: both("{by} finds the lock held, and does not compute", "{by} 发现锁被占用，不计算")},
		{kind: KindLoses, stepKind: trace.KindWoken, sentence: both("{by} is told that it lost the lock", "{by} 得知自己的锁丢失")},
	}
}

// text returns the texts of an event. ok is false for a kind that is not drawn, or has no eventText.
func (e Event) text() (text eventText, ok bool) {
	for _, h := range eventTexts() {
		if h.kind == e.Kind && h.isCache == e.Cache {
			return h, true
		}
	}
	return eventText{}, false
}

// Sentence returns the sentence about an event of a replica, a Redis or a sale; empty for other events.
func (e Event) Sentence(in language.Language) string {
	h, _ := e.text()
	return e.fill(h.sentence.In(in), in)
}
