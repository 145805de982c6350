package recorder

import (
	"errors"
	"slices"
	"strings"
	"time"

	"lockstep/internal/dao"
	"lockstep/internal/explore/execution"
	"lockstep/internal/explore/trace"
	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/service/reason"
)

// say gives a sentence in the language of the scenario.
func (r *Recorder) say(english, chinese string, values ...any) string {
	return r.x.Scenario.Say(english, chinese, values...)
}

// says tells what t did.
func (r *Recorder) says(t execution.Transition, before view) string {
	a := r.x.Actor(t)
	switch t.Kind {
	case execution.TimePasses, execution.Slow, execution.Expires:
		return r.saysOfTime(before)
	case execution.Woken:
		return r.say("%s is woken", "%s 被唤醒", a.Process.Title())
	case execution.Unwoken:
		return r.say("the hint that should wake %s gets lost", "要唤醒 %s 的消息丢失", a.Process.Title())
	case execution.Pauses:
		return r.say("%s stops, timers and all", "%s 暂停，定时器也停了", a.Process.Title())
	case execution.Resumes:
		return r.say("%s goes on", "%s 恢复运行", a.Process.Title())
	case execution.Leaves:
		return r.say("%s's client goes away", "%s 的客户端断开", a.Name)
	case execution.WokenInVain:
		return r.say("%s is told that it may have missed a message", "%s 得知自己可能漏了消息", a.Process.Title())
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
		return r.saysOfMove(before, a)
	}
}

// saysOfMove tells what a's step did.
func (r *Recorder) saysOfMove(before view, a *execution.Actor) string {
	step := r.step
	switch {
	case step.Command == "" && step.Kind == trace.KindDies:
		return r.say("%s dies", "%s 崩溃", a.Name)
	case step.Kind == trace.KindBegins:
		return r.say("%s begins an attempt", "%s 开始一次加锁尝试", a.Name)
	case step.Kind == trace.KindWaits && !before.began[a.Index]:
		return r.say("%s begins, and waits", "%s 开始，然后等待", a.Name)
	case step.Kind == trace.KindWaits:
		return r.say("%s waits", "%s 等待", a.Name)
	}
	var says string
	if step.Command != "" {
		says = r.saysOfCommand(before, a)
	}
	if before.told[a.Index] {
		says += r.say(", which was on its way", "，这条命令早已发出")
	}
	if step.Kind == trace.KindArrives && says == "" {
		says = r.say("it makes no difference", "没有影响")
	}
	return says + fates()[step.Kind].In(r.x.Scenario.Language)
}

// saysOfCommand tells what a's command did.
func (r *Recorder) saysOfCommand(before view, a *execution.Actor) string {
	says := r.saysOfLock(before, a)
	if says == "" {
		says = r.saysOfStock(before, a)
	}
	if says == "" && r.about(lock.Key) {
		says = r.found(a)
	}
	return r.befell() + says
}

// fates says of each kind what happened to its command, or to the sender, beside what the command did.
func fates() map[string]language.Text {
	both := language.Both
	return map[string]language.Text{
		trace.KindLostReply: both(", but never gets the reply", "，但收不到响应"),
		trace.KindResends:   both(", but never gets the reply: its client sends the command again", "，但收不到响应：客户端再发一次这条命令"),
		trace.KindArrives:   both(": the command was late", "：这条命令迟到了"),
		trace.KindUnsynced:  both("; a replica gets neither this nor what follows", "；从节点收不到这次改动，也收不到后面的"),
		trace.KindNodeClock: both(", on a node whose clock has jumped ahead", "，而这个节点的时钟已经向前跳了"),
		trace.KindDies:      both(", and dies", "，然后崩溃"),
		trace.KindReadsLate: both(", but stops before it has read the reply", "，但还没读到响应就暂停了"),
	}
}

// saysOfStock tells what a's command did with the stock, "" if nothing.
func (r *Recorder) saysOfStock(before view, a *execution.Actor) string {
	left, reply := r.x.Cluster.Stored().Stock(), r.step.Reply
	writes := r.say("%s writes stock %s", "%s 写入库存 %s", a.Name, left)
	switch {
	case left != before.stock:
		return writes
	case !r.about(dao.InventoryKey):
		return ""
	case strings.HasSuffix(reply, "[0]"), reply == "0":
		return r.say("%s is refused: its token is stale", "%s 被拒绝：它的令牌已过时", a.Name)
	case r.token == "readFenced" || strings.HasPrefix(r.step.Command, "GET "):
		return r.say("%s reads stock %s", "%s 读到库存 %s", a.Name, left)
	default:
		return writes
	}
}

// about reports whether the step's command names a key.
func (r *Recorder) about(key string) bool {
	return slices.Contains(strings.Fields(r.step.Command), key)
}

// saysOfTime tells what passing time did.
func (r *Recorder) saysOfTime(before view) string {
	return r.say("%v later", "%v 后", (r.x.Now()-before.now).Round(time.Millisecond)) + r.expired(before)
}

// changes tells what has changed for the actors.
func (r *Recorder) changes(before view) []string {
	var says []string
	for i, a := range r.x.Actors() {
		if r.checker.Told(a) && !before.told[i] {
			says = append(says, r.say("%s is told that it lost the lock", "%s 得知自己丢了锁", a.Name))
		}
		switch {
		case !a.Finished() || before.ended[i] || a.Dead():
		case a.Err() == nil:
			says = append(says, r.say("%s has sold", "%s 卖出一件", a.Name))
		default:
			says = append(says, r.say("%s fails: %s", "%s 失败：%s", a.Name, reason.In(r.x.Scenario.Language, inShort(a.Err()))))
		}
	}
	return says
}

// inShort says why a sale failed, without what it was doing.
func inShort(err error) string {
	for _, known := range []error{
		lock.ErrNotObtained, lock.ErrTimeout, lock.ErrLost, lock.ErrCancelled, lock.ErrOutcomeUnknown, lock.ErrUnavailable,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return err.Error()
}
