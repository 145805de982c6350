package explore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/internal/dao"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/redis/meaning"
	"lockstep/internal/service"
	"lockstep/internal/service/reason"
	"lockstep/internal/trace"
)

// say formats a sentence in the language of the scenario.
func (r *recorder) say(english, chinese string, values ...any) string {
	return r.engine.Scenario.Say(english, chinese, values...)
}

// sentence returns a sentence about the effect of a transition.
func (r *recorder) sentence(t engine.Transition, before baseline) string {
	a, texts := r.engine.Subject(t).Actor, stepTexts()[t.Kind]
	if t.Kind == engine.NodeRestarts { // the node has forgotten its lock by the time the command arrives
		before.locks[r.step.Node] = serverLock{holder: -1}
	}
	switch {
	case texts.kind == trace.KindTime:
		return r.say("%v later", "%v 后", (r.engine.Now()-before.now).Round(time.Millisecond)) + r.expirySentence(before)
	case texts.sentence == language.Text{}:
		return r.moveSentence(texts, before, a)
	case a == nil: // a fault of Redis
		return r.fillIn(texts.sentence, a) + r.redisSentence(before)
	default:
		return r.fillIn(texts.sentence, a)
	}
}

// moveSentence returns a sentence about a step of an actor, between the prefix and the suffix of its kind.
func (r *recorder) moveSentence(texts stepText, before baseline, a *engine.Actor) string {
	step, suffix := r.step, r.fillIn(texts.suffix, a)
	switch {
	case step.Kind == trace.KindBegins:
		return r.say("%s begins an attempt", "%s 开始一次加锁尝试", a.Name) + suffix
	case step.Kind == trace.KindSubscribes:
		return r.say("%s subscribes", "%s 订阅消息", a.Name)
	case step.Kind == trace.KindWaits && !before.started[a.Index]:
		return r.say("%s begins, and waits", "%s 开始，然后等待", a.Name) + suffix
	case step.Kind == trace.KindWaits:
		return r.say("%s waits", "%s 等待", a.Name) + suffix
	}
	var sentence string
	if step.Command != "" {
		sentence = r.fillIn(texts.prefix, a) + r.commandSentence(before, a)
		if before.lossNotices[a.Index] {
			sentence = strings.TrimSpace(sentence + r.say(" (the command was already in flight)", "（命令早已发出）"))
		}
	}
	if step.Kind == trace.KindArrives && sentence == "" {
		sentence = r.say("nothing changes", "没有影响")
	}
	return sentence + suffix
}

// commandSentence returns a sentence about what an actor's command did, or what it found.
func (r *recorder) commandSentence(before baseline, a *engine.Actor) string {
	if strings.HasSuffix(r.step.Reply, engine.ConnectionReset) {
		return r.say("%s's connection breaks", "%s 的连接断了", a.Name)
	}
	sentence := r.lockSentence(before, a)
	failed := strings.HasPrefix(r.step.Reply, "error ") && !r.isNodeDown()
	if sentence == "" && failed && stockOf(r.engine.Cluster.MainState(), 0) == stockOf(before.stored, 0) {
		return r.say("%s's command fails", "%s 的命令执行失败", a.Name)
	}
	if sentence == "" {
		sentence = r.stockSentence(before, a)
	}
	if sentence == "" && r.hasKey(lock.Key) {
		sentence = r.foundSentence(a)
	}
	if sentence == "" {
		sentence = r.segmentSentence(a)
	}
	return sentence
}

// segmentSentence returns a sentence about what an actor's command found in a segment of the stock, or at the segment's lock; "" for any
// other command.
func (r *recorder) segmentSentence(a *engine.Actor) string {
	for segment := 1; segment <= Segments; segment++ {
		stock, _ := dao.SegmentKeys(segment)
		holder := r.segmentHolder(segment)
		switch {
		case r.hasKey(stock):
			return r.say("%s reads stock %s of segment %d", "%s 读到库存 %s（第 %d 段）", a.Name, stockOf(r.engine.Cluster.MainState(), segment), segment)
		case !r.hasKey(service.SegmentKey(lock.Key, segment)):
		case holder == "":
			return r.say("the lock of segment %d is free", "第 %d 段的锁空闲", segment)
		default:
			return r.say("the lock of segment %d is %s's", "第 %d 段的锁是 %s 的", segment, holder)
		}
	}
	return ""
}

// stockSentence returns a sentence about what an actor's command did with the stock; "" for a command that does not concern the stock.
func (r *recorder) stockSentence(before baseline, a *engine.Actor) string {
	stored, reply := r.engine.Cluster.MainState(), r.step.Reply
	left := stockOf(stored, 0)
	writes := r.say("%s writes stock %s", "%s 写入库存 %s", a.Name, left)
	switch {
	case left != stockOf(before.stored, 0):
		return writes
	case !r.hasKey(dao.InventoryKey):
		return ""
	case strings.HasSuffix(reply, "[0]"), reply == "0":
		return r.say("%s is refused: its token is stale", "%s 被拒绝：它的令牌已过时", a.Name)
	case r.verb == meaning.Reads:
		return r.say("%s reads stock %s", "%s 读到库存 %s", a.Name, left)
	case reply == "": // the command has not arrived
		return ""
	case reply == "nil" && strings.HasSuffix(r.step.Command, "EXEC"): // a watched key has changed
		return r.say("%s is refused: the stock has changed", "%s 被拒绝：库存已经变了", a.Name)
	case strings.HasPrefix(r.step.Command, "WATCH "):
		return r.say("%s watches the stock", "%s 监视库存", a.Name)
	case hasOrder(before.stored, a.Sale) && stored == before.stored:
		return r.say("the ledger already has %s's order: nothing is written", "账本里已有 %s 的订单：什么也不写", a.Name)
	default:
		return writes
	}
}

// hasKey reports whether the step's command has a key among its arguments.
func (r *recorder) hasKey(key string) bool {
	return slices.Contains(strings.Fields(r.step.Command), key)
}

// actorSentences returns sentences about the actors that have learned of a loss, have sold, or have failed in the current step.
func (r *recorder) actorSentences(before baseline) []string {
	var sentences []string
	for i, a := range r.engine.Actors() {
		if r.judge.Sale(a.Index).HasLossNotice() && !before.lossNotices[i] {
			notice := r.say("%s is told that it lost the lock", "%s 得知自己的锁丢失", a.Name)
			if sent := a.Pending(); sent != nil && r.step.Kind == trace.KindTime { // a command in flight cannot be called back
				name, _ := Describe(sent)
				notice += r.say(", while its %s is in flight", "，而它的 %s 已在途中", name)
			}
			sentences = append(sentences, notice)
		}
		switch {
		case !a.Finished() || before.finished[i] || a.Dead():
		case a.Err() == nil:
			sentences = append(sentences, r.say("%s has sold", "%s 卖出一件", a.Name))
		default:
			// only the cause, without the operation that failed
			why := reason.ShortText(r.engine.Scenario.Language, a.Err(), lock.ErrNotObtained, lock.ErrTimeout, lock.ErrLost, lock.ErrCancelled,
				lock.ErrScriptFailed, lock.ErrOutcomeUnknown, lock.ErrRefused, lock.ErrUnavailable)
			sentences = append(sentences, r.say("%s fails: %s", "%s 失败：%s", a.Name, why))
		}
	}
	return sentences
}

// stepText has the texts for one kind of transition. In a text, {sale} is the affected sale, {process} the sales of the affected process,
// {node} the node that a command was for, and {jump} how far a clock jumps.
type stepText struct {
	kind     string        // kind of the step; "": it depends on what the step did
	sentence language.Text // complete sentence; empty: moveSentence composes it, between prefix and suffix
	prefix   language.Text // phrase for the fault of the node before the command
	suffix   language.Text // phrase about what happens to the reply or the sender after the command
}

// stepTexts returns the texts of each kind of transition, by engine.Kind.
func stepTexts() [engine.GoesOn + 1]stepText {
	both := language.Both
	return [...]stepText{
		engine.TimePasses:      {kind: trace.KindTime},
		engine.Slow:            {kind: trace.KindTime},
		engine.Expires:         {kind: trace.KindTime},
		engine.ReceivesMessage: {kind: trace.KindWoken, sentence: both("{process} is woken", "{process} 被唤醒")},
		engine.LosesMessage: {kind: trace.KindLostWake,
			sentence: both("the message that would wake {process} is lost", "要唤醒 {process} 的消息丢失")},
		engine.Pauses: {kind: trace.KindPauses,
			sentence: both("{process} stops, timers and all", "{process} 暂停，定时器也停了")},
		engine.Resumes:  {kind: trace.KindResumes, sentence: both("{process} goes on", "{process} 恢复运行")},
		engine.Leaves:   {kind: trace.KindLeaves, sentence: both("{sale}'s client goes away", "{sale} 的客户端断开")},
		engine.TimesOut: {kind: trace.KindTimesOut, sentence: both("{sale} has waited too long", "{sale} 等待超时")},
		engine.LeavesUnnoticed: {kind: trace.KindLeaves,
			sentence: both("{sale}'s client goes away, and {sale} has not noticed yet", "{sale} 的客户端断开，{sale} 还没发现")},
		engine.TimesOutUnnoticed: {kind: trace.KindTimesOut,
			sentence: both("{sale} has waited too long, and has not noticed yet", "{sale} 等待超时，但还没发现")},
		engine.Notices:    {sentence: both("{sale} notices that its wait is over", "{sale} 发现等待已经结束")},
		engine.GoesOn:     {sentence: both("{sale} gets what it waited for", "{sale} 等待的事件已到")},
		engine.DiesBefore: {kind: trace.KindDies, sentence: both("{sale} dies", "{sale} 崩溃")},
		engine.FailsOver:  {kind: trace.KindFailover, sentence: both("a replica takes the master's place", "从节点升为主节点")},
		engine.RollsBack: {kind: trace.KindRestarts,
			sentence: both("Redis restarts with an older snapshot", "Redis 重启，回到较早的快照")},
		engine.Evicts: {kind: trace.KindEvicts,
			sentence: both("Redis is out of memory, and evicts what has an expiry", "Redis 内存不足，淘汰带过期时间的键")},
		engine.ClockJumps: {kind: trace.KindClock,
			sentence: both("the clock of {process} jumps ahead by {jump}", "{process} 的时钟向前跳 {jump}")},
		engine.RedisClockJumps: {kind: trace.KindClock,
			sentence: both("Redis's clock jumps ahead by {jump}", "Redis 的时钟向前跳 {jump}")},
		engine.LosesRequest: {kind: trace.KindLostRequest,
			sentence: both("{sale}'s command never arrives", "{sale} 的命令没有送达")},
		engine.NeverArrives: {kind: trace.KindNeverComes,
			sentence: both("the connection is broken: the rest of {sale}'s pipeline never arrives", "连接断了：{sale} 的 pipeline 余下的命令没有送达")},
		engine.Delays: {kind: trace.KindLate,
			sentence: both("{sale}'s command is delayed, and {sale} is told that Redis does not answer", "{sale} 的命令滞留在途中，{sale} 得知 Redis 没有响应")},

		engine.LosesReply: {kind: trace.KindLostReply, suffix: both(", but never gets the reply", "，但收不到响应")},
		engine.Resends: {kind: trace.KindResends,
			suffix: both(", but never gets the reply: its client sends the command again", "，但收不到响应：客户端再发一次这条命令")},
		engine.Arrives: {kind: trace.KindArrives, suffix: both("; the command was delayed", "：这条命令迟到了")},
		engine.StopsReplication: {kind: trace.KindUnsynced,
			suffix: both("; the replica receives neither this change nor later ones", "；从节点收不到这次改动，也收不到后面的")},
		engine.StopsSnapshots: {kind: trace.KindUnsynced,
			suffix: both("; Redis's snapshot has neither this change nor later ones", "；这次改动和后面的都不在 Redis 的快照里")},
		engine.NodeClockJumps: {kind: trace.KindNodeClock,
			suffix: both(", on a node whose clock has jumped ahead", "，而这个节点的时钟已经向前跳了")},
		engine.DiesAfter: {kind: trace.KindDies, suffix: both(", and dies", "，然后崩溃")},
		engine.PausesAfter: {kind: trace.KindReadsLate,
			suffix: both(", but pauses before it has read the reply", "，但还没读到响应就暂停了")},
		engine.NodeCrashes:  {prefix: both("node {node} goes down; ", "节点 {node} 宕机；")},
		engine.NodeHangs:    {prefix: both("node {node} stops answering; ", "节点 {node} 不再响应；")},
		engine.NodeRestarts: {prefix: both("node {node} restarts empty; ", "节点 {node} 清空重启；")},
	}
}

// fillIn returns a text with its placeholders replaced for an actor. The actor is nil if nobody took the step.
func (r *recorder) fillIn(text language.Text, a *engine.Actor) string {
	sale, process := "", ""
	if a != nil {
		sale, process = a.Name, a.Process.Title()
	}
	return strings.NewReplacer(
		"{sale}", sale, "{process}", process, "{node}", fmt.Sprint(r.step.Node), "{jump}", engine.ClockJumpSize.String(),
	).Replace(text.In(r.engine.Scenario.Language))
}

// nodePhrase returns a phrase with the node on which the step's command was executed; "" for a lock on a single server.
func (r *recorder) nodePhrase() string {
	if r.step.Node == 0 {
		return ""
	}
	return r.say(" on node %d", "（节点 %d）", r.step.Node)
}

// lockSentence returns a sentence about what an actor's command did to the lock; it compares the key before and after. It returns "" if
// nothing changed.
func (r *recorder) lockSentence(before baseline, a *engine.Actor) string {
	oldLock, newLock := before.locks[r.step.Node], r.locks()[r.step.Node]
	changed := !slices.Equal(oldLock.Values, newLock.Values)
	node, owner := r.nodePhrase(), r.possessive(oldLock.holder)
	switch {
	case !oldLock.exists && newLock.exists:
		return r.say("%s takes the lock%s", "%s 加锁成功%s", a.Name, node)
	case !oldLock.exists:
		return ""
	case !newLock.exists && oldLock.holder == a.Index:
		return r.say("%s gives the lock back%s", "%s 释放锁%s", a.Name, node)
	case !newLock.exists:
		return r.say("%s removes %s lock%s", "%s 删除了%s锁%s", a.Name, owner, node)
	case oldLock.holder == a.Index && newLock.holder >= 0 && newLock.holder != a.Index:
		return r.say("%s hands the lock to %s", "%s 把锁移交给 %s", a.Name, r.engine.Actors()[newLock.holder].Name)
	case oldLock.holder != a.Index && newLock.holder == a.Index:
		return r.say("%s takes over %s lock%s", "%s 接管%s锁%s", a.Name, owner, node)
	case len(newLock.Values) == 1 && changed:
		return r.say("%s writes over %s lock%s", "%s 覆盖了%s锁%s", a.Name, owner, node)
	case changed:
		return r.say("%s counts its lock: %s", "%s 更新自己锁的重入次数：%s", a.Name, simredis.RelativeTimes(strings.Join(newLock.Values[1:], " ")))
	case newLock.TTL > oldLock.TTL && oldLock.holder == a.Index:
		return r.say("%s renews its lock%s", "%s 给自己的锁续期%s", a.Name, node)
	case newLock.TTL > oldLock.TTL:
		return r.say("%s renews %s lock%s", "%s 给%s锁续期%s", a.Name, owner, node)
	default:
		return ""
	}
}

// foundSentence returns a sentence about what an actor's command has found at the lock without changing it.
func (r *recorder) foundSentence(a *engine.Actor) string {
	newLock, looks := r.locks()[r.step.Node], "looks at"
	if r.verb == meaning.Takes {
		looks = "tries"
	}
	switch {
	case r.isNodeDown():
		return r.say("%s does not reach node %d", "%s 连不上节点 %d", a.Name, r.step.Node)
	case !newLock.exists:
		return r.say("%s finds no lock%s", "%s 发现锁不存在%s", a.Name, r.nodePhrase())
	case newLock.holder == a.Index:
		return r.say("%s "+looks+" the lock%s: %[1]s has it", "%s 发现锁%s是自己的", a.Name, r.nodePhrase())
	default:
		return r.say("%s "+looks+" the lock%s: %[4]s has it", "%s 发现锁%s是%[3]s", a.Name, r.nodePhrase(),
			r.possessive(newLock.holder), r.holderName(newLock.holder))
	}
}

// expirySentence returns a phrase about the locks that have expired, on each node; "" if none has.
func (r *recorder) expirySentence(before baseline) (sentence string) {
	for i, newLock := range r.locks() {
		oldLock := before.locks[i]
		switch {
		case !oldLock.exists || oldLock.TTL == 0 || newLock.exists:
		case sentence == "" && !r.engine.Cluster.OnNodes():
			return r.say(": %s expires", "：%s过期", r.lockPhrase(oldLock.holder))
		case sentence == "":
			sentence = r.say(": %s expires on node %d", "：%s在节点 %d 上过期", r.lockPhrase(oldLock.holder), i)
		default:
			sentence += r.say(", %s on node %d", "，%s在节点 %d 上过期", strings.TrimSpace(r.possessive(oldLock.holder)), i)
		}
	}
	return sentence
}

// redisSentence returns a phrase about how a fault of Redis has changed the lock; "" if the lock is the same.
func (r *recorder) redisSentence(before baseline) string {
	oldLock, newLock := before.locks[0], r.locks()[0]
	switch {
	case oldLock.exists && !newLock.exists:
		return r.say(": %s is gone", "：%s丢失", r.lockPhrase(oldLock.holder))
	case newLock.exists && (!oldLock.exists || newLock.holder != oldLock.holder):
		return r.say(": the lock is %s again", "：锁又是%s了", r.possessive(newLock.holder))
	default:
		return ""
	}
}

// possessive returns the possessive of a holder, as in "A's lock". In Chinese it follows another word, so a name has spaces around it.
func (r *recorder) possessive(holder int) string {
	if holder < 0 {
		return r.say("nobody's", "无人持有的")
	}
	return r.say("%s's", " %s 的", r.holderName(holder))
}

// lockPhrase returns a phrase for a holder's lock that may begin a sentence.
func (r *recorder) lockPhrase(holder int) string {
	return strings.TrimSpace(r.say("%s lock", "%s锁", r.possessive(holder)))
}

// pipelineSentence returns a sentence about what becomes of the remaining commands of a pipeline.
func (r *recorder) pipelineSentence(commands string, arrives bool) string {
	if arrives {
		return r.say("%s is still in flight", "%s 还在途中", commands)
	}
	return r.say("%s never arrives", "%s 没有送达", commands)
}
