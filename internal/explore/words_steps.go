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

// say gives a sentence in the language of the scenario.
func (r *recorder) say(english, chinese string, values ...any) string {
	return r.x.Scenario.Say(english, chinese, values...)
}

// sentence tells what t did.
func (r *recorder) sentence(t engine.Transition, before view) string {
	a, told := r.x.Subject(t).Actor, tellings()[t.Kind]
	switch {
	case told.kind == trace.KindTime:
		return r.say("%v later", "%v 后", (r.x.Now()-before.now).Round(time.Millisecond)) + r.expired(before)
	case told.says == language.Text{}:
		return r.moveSentence(told, before, a)
	case a == nil: // Redis did it
		return r.fill(told.says, a) + r.lost(before)
	default:
		return r.fill(told.says, a)
	}
}

// moveSentence tells what a's step did.
func (r *recorder) moveSentence(told telling, before view, a *engine.Actor) string {
	step, fate := r.step, r.fill(told.fate, a)
	switch {
	case step.Kind == trace.KindBegins:
		return r.say("%s begins an attempt", "%s 开始一次加锁尝试", a.Name) + fate
	case step.Kind == trace.KindSubscribes:
		return r.say("%s subscribes", "%s 订阅消息", a.Name)
	case step.Kind == trace.KindWaits && !before.began[a.Index]:
		return r.say("%s begins, and waits", "%s 开始，然后等待", a.Name) + fate
	case step.Kind == trace.KindWaits:
		return r.say("%s waits", "%s 等待", a.Name) + fate
	}
	var says string
	if step.Command != "" {
		says = r.fill(told.first, a) + r.commandSentence(before, a)
		if before.told[a.Index] {
			says = strings.TrimSpace(says + r.say(" (the command was already in flight)", "（命令早已发出）"))
		}
	}
	if step.Kind == trace.KindArrives && says == "" {
		says = r.say("nothing changes", "没有影响")
	}
	return says + fate
}

// commandSentence tells what a's command did.
func (r *recorder) commandSentence(before view, a *engine.Actor) string {
	if strings.HasSuffix(r.step.Reply, engine.ConnectionReset) {
		return r.say("%s's connection breaks", "%s 的连接断了", a.Name)
	}
	says := r.lockSentence(before, a)
	if says == "" {
		says = r.stockSentence(before, a)
	}
	if says == "" && r.about(lock.Key) {
		says = r.found(a)
	}
	if says == "" {
		says = r.segmentSentence(a)
	}
	return says
}

// segmentSentence tells what a's command found of the segment that it is about, "" if it is about none.
func (r *recorder) segmentSentence(a *engine.Actor) string {
	for segment := 1; segment <= Segments; segment++ {
		stock, _ := dao.SegmentKeys(segment)
		holder := r.holderOf(segment)
		switch {
		case r.about(stock):
			return r.say("%s reads stock %s of segment %d", "%s 读到库存 %s（第 %d 段）", a.Name, stockOf(r.x.Cluster.MainState(), segment), segment)
		case !r.about(service.SegmentKey(lock.Key, segment)):
		case holder == "":
			return r.say("the lock of segment %d is free", "第 %d 段的锁空闲", segment)
		default:
			return r.say("the lock of segment %d is %s's", "第 %d 段的锁是 %s 的", segment, holder)
		}
	}
	return ""
}

// stockSentence tells what a's command did with the stock, "" if nothing.
func (r *recorder) stockSentence(before view, a *engine.Actor) string {
	is, reply := r.x.Cluster.MainState(), r.step.Reply
	left := stockOf(is, 0)
	writes := r.say("%s writes stock %s", "%s 写入库存 %s", a.Name, left)
	switch {
	case left != stockOf(before.stored, 0):
		return writes
	case !r.about(dao.InventoryKey):
		return ""
	case strings.HasSuffix(reply, "[0]"), reply == "0":
		return r.say("%s is refused: its token is stale", "%s 被拒绝：它的令牌已过时", a.Name)
	case r.verb == meaning.Reads:
		return r.say("%s reads stock %s", "%s 读到库存 %s", a.Name, left)
	case reply == "": // it has not arrived
		return ""
	case strings.HasPrefix(r.step.Command, "WATCH "):
		return r.say("%s watches the stock", "%s 监视库存", a.Name)
	case hasOrder(before.stored, a.Sale) && is == before.stored:
		return r.say("the ledger already has %s's order: nothing is written", "账本里已有 %s 的订单：什么也不写", a.Name)
	default:
		return writes
	}
}

// about reports whether the step's command names a key.
func (r *recorder) about(key string) bool {
	return slices.Contains(strings.Fields(r.step.Command), key)
}

// changes tells what has changed for the actors.
func (r *recorder) changes(before view) []string {
	var says []string
	for i, a := range r.x.Actors() {
		if r.judge.Sale(a.Index).HasLossNotice() && !before.told[i] {
			told := r.say("%s is told that it lost the lock", "%s 得知自己丢了锁", a.Name)
			if sent := a.Pending(); sent != nil && r.step.Kind == trace.KindTime { // that calls nothing back
				name, _ := Describe(sent)
				told += r.say(", while its %s is in flight", "，而它的 %s 已在途中", name)
			}
			says = append(says, told)
		}
		switch {
		case !a.Finished() || before.ended[i] || a.Dead():
		case a.Err() == nil:
			says = append(says, r.say("%s has sold", "%s 卖出一件", a.Name))
		default:
			why := reason.InShort(r.x.Scenario.Language, a.Err(), lock.ErrNotObtained, lock.ErrTimeout, lock.ErrLost, lock.ErrCancelled,
				lock.ErrOutcomeUnknown, lock.ErrUnavailable) // without what it was doing
			says = append(says, r.say("%s fails: %s", "%s 失败：%s", a.Name, why))
		}
	}
	return says
}

// telling is how a kind of transition is written down. In its texts, {sale} is the sale that it happens to, {process} the sales of the
// process, {node} the node that a command was for, and {jump} how far a clock jumps.
type telling struct {
	kind  string        // of the step; "": it depends on what the step did
	says  language.Text // what happens; none: that is told from what the step did, between the two below
	first language.Text // what happens to the node before the command
	fate  language.Text // what happens after it to the reply, or to the sender
}

func tellings() [engine.GoesOn + 1]telling {
	both := language.Both
	return [...]telling{
		engine.TimePasses: {kind: trace.KindTime},
		engine.Slow:       {kind: trace.KindTime},
		engine.Expires:    {kind: trace.KindTime},
		engine.Woken:      {kind: trace.KindWoken, says: both("{process} is woken", "{process} 被唤醒")},
		engine.Unwoken: {kind: trace.KindLostWake,
			says: both("the message that would wake {process} is lost", "要唤醒 {process} 的消息丢失")},
		engine.Pauses: {kind: trace.KindPauses,
			says: both("{process} stops, timers and all", "{process} 暂停，定时器也停了")},
		engine.Resumes:  {kind: trace.KindResumes, says: both("{process} goes on", "{process} 恢复运行")},
		engine.Leaves:   {kind: trace.KindLeaves, says: both("{sale}'s client goes away", "{sale} 的客户端断开")},
		engine.TimesOut: {kind: trace.KindTimesOut, says: both("{sale} has waited too long", "{sale} 等待超时")},
		engine.LeavesUnnoticed: {kind: trace.KindLeaves,
			says: both("{sale}'s client goes away, and {sale} has not noticed yet", "{sale} 的客户端断开，{sale} 还没发现")},
		engine.TimesOutUnnoticed: {kind: trace.KindTimesOut,
			says: both("{sale} has waited too long, and has not noticed yet", "{sale} 等待超时，但还没发现")},
		engine.Notices:    {says: both("{sale} notices that its wait is over", "{sale} 发现不必再等")},
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
			says: both("{sale}'s command is delayed, and {sale} is told that Redis does not answer", "{sale} 的命令滞留在途中，{sale} 得知 Redis 没有响应")},

		engine.LosesReply: {kind: trace.KindLostReply, fate: both(", but never gets the reply", "，但收不到响应")},
		engine.Resends: {kind: trace.KindResends,
			fate: both(", but never gets the reply: its client sends the command again", "，但收不到响应：客户端再发一次这条命令")},
		engine.Arrives: {kind: trace.KindArrives, fate: both(": the command was delayed", "：这条命令迟到了")},
		engine.Unsynced: {kind: trace.KindUnsynced,
			fate: both("; the replica receives neither this change nor later ones", "；从节点收不到这次改动，也收不到后面的")},
		engine.Unsaved: {kind: trace.KindUnsynced,
			fate: both("; Redis's snapshot has neither this change nor later ones", "；这次改动和后面的都不在 Redis 的快照里")},
		engine.NodeClockJumps: {kind: trace.KindNodeClock,
			fate: both(", on a node whose clock has jumped ahead", "，而这个节点的时钟已经向前跳了")},
		engine.DiesAfter: {kind: trace.KindDies, fate: both(", and dies", "，然后崩溃")},
		engine.PausesAfter: {kind: trace.KindReadsLate,
			fate: both(", but pauses before it has read the reply", "，但还没读到响应就暂停了")},
		engine.NodeCrashes:  {first: both("node {node} goes down; ", "节点 {node} 宕机；")},
		engine.NodeHangs:    {first: both("node {node} stops answering; ", "节点 {node} 不再响应；")},
		engine.NodeRestarts: {first: both("node {node} restarts empty; ", "节点 {node} 清空重启；")},
	}
}

// fill says a text of a's step; nil for a step of nobody's.
func (r *recorder) fill(text language.Text, a *engine.Actor) string {
	sale, process := "", ""
	if a != nil {
		sale, process = a.Name, a.Process.Title()
	}
	return strings.NewReplacer(
		"{sale}", sale, "{process}", process, "{node}", fmt.Sprint(r.step.Node), "{jump}", engine.ClockJumpSize.String(),
	).Replace(text.In(r.x.Scenario.Language))
}

// where says on which of several nodes something was done.
func (r *recorder) where() string {
	if r.step.Node == 0 {
		return ""
	}
	return r.say(" on node %d", "（节点 %d）", r.step.Node)
}

// lockSentence tells what a's command did to the lock, from what Redis held before it and holds now; "" if it did nothing.
func (r *recorder) lockSentence(before view, a *engine.Actor) string {
	was, is, on := before.locks[r.step.Node], r.locks()[r.step.Node], r.where()
	changed, whose := !slices.Equal(was.Values, is.Values), r.whose(was.holder)
	switch {
	case !was.has && is.has:
		return r.say("%s takes the lock%s", "%s 拿到锁%s", a.Name, on)
	case !was.has:
		return ""
	case !is.has && was.holder == a.Index:
		return r.say("%s gives the lock back%s", "%s 释放锁%s", a.Name, on)
	case !is.has:
		return r.say("%s removes %s lock%s", "%s 删除了%s锁%s", a.Name, whose, on)
	case was.holder == a.Index && is.holder >= 0 && is.holder != a.Index:
		return r.say("%s hands the lock to %s", "%s 把锁移交给 %s", a.Name, r.x.Actors()[is.holder].Name)
	case was.holder != a.Index && is.holder == a.Index:
		return r.say("%s takes over %s lock%s", "%s 接管%s锁%s", a.Name, whose, on)
	case len(is.Values) == 1 && changed:
		return r.say("%s writes over %s lock%s", "%s 覆盖了%s锁%s", a.Name, whose, on)
	case changed:
		return r.say("%s counts its lock: %s", "%s 更新自己锁的重入次数：%s", a.Name, simredis.RelativeTimes(strings.Join(is.Values[1:], " ")))
	case is.TTL > was.TTL && was.holder == a.Index:
		return r.say("%s renews its lock%s", "%s 给自己的锁续期%s", a.Name, on)
	case is.TTL > was.TTL:
		return r.say("%s renews %s lock%s", "%s 给%s锁续期%s", a.Name, whose, on)
	default:
		return ""
	}
}

// found tells what a's command, which did nothing, has found.
func (r *recorder) found(a *engine.Actor) string {
	switch is := r.locks()[r.step.Node]; {
	case r.down():
		return r.say("%s does not reach node %d", "%s 连不上节点 %d", a.Name, r.step.Node)
	case !is.has:
		return r.say("%s finds no lock%s", "%s 没有发现锁%s", a.Name, r.where())
	default:
		return r.say("%s finds the lock%s to be %s", "%s 发现锁%s是%s", a.Name, r.where(), r.whose(is.holder))
	}
}

// expired tells whose lock has gone by itself.
func (r *recorder) expired(before view) (says string) {
	for i, is := range r.locks() {
		switch was := before.locks[i]; {
		case !was.has || was.TTL == 0 || is.has:
		case says == "" && !r.x.Cluster.OnNodes():
			return r.say(": %s expires", "：%s过期", r.lockOf(was.holder))
		case says == "":
			says = r.say(": %s expires on node %d", "：%s在节点 %d 上过期", r.lockOf(was.holder), i)
		default:
			says += r.say(", %s on node %d", "，%s在节点 %d 上过期", strings.TrimSpace(r.whose(was.holder)), i)
		}
	}
	return says
}

// lost tells how the lock has changed, if no actor did it.
func (r *recorder) lost(before view) string {
	switch was, is := before.locks[0], r.locks()[0]; {
	case was.has && !is.has:
		return r.say(": %s is gone", "：%s丢失", r.lockOf(was.holder))
	case is.has && (!was.has || is.holder != was.holder):
		return r.say(": the lock is %s again", "：锁又是%s了", r.whose(is.holder))
	default:
		return ""
	}
}

// whose says whose a lock is. In Chinese it stands after another word: a name has spaces around it.
func (r *recorder) whose(holder int) string {
	if holder < 0 {
		return r.say("nobody's", "无人持有的")
	}
	return r.say("%s's", " %s 的", r.name(holder))
}

// lockOf returns somebody's lock, at the beginning of a sentence.
func (r *recorder) lockOf(holder int) string {
	return strings.TrimSpace(r.say("%s lock", "%s锁", r.whose(holder)))
}

// restSentence tells what becomes of the rest of a pipeline.
func (r *recorder) restSentence(commands string, arrives bool) string {
	if arrives {
		return r.say("%s is still in flight", "%s 还在途中", commands)
	}
	return r.say("%s never arrives", "%s 没有送达", commands)
}
