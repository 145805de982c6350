package explore

import (
	"slices"
	"strings"
	"time"

	"lockstep/internal/dao"
	"lockstep/internal/explore/engine"
	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/service/reason"
	"lockstep/internal/trace"
	"lockstep/util/lua/meaning"
)

// say gives a sentence in the language of the scenario.
func (r *Recorder) say(english, chinese string, values ...any) string {
	return r.x.Scenario.Say(english, chinese, values...)
}

// sentence tells what t did.
func (r *Recorder) sentence(t engine.Transition, before view) string {
	a, told := r.x.Actor(t), tellings()[t.Kind]
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
func (r *Recorder) moveSentence(told telling, before view, a *engine.Actor) string {
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
	}
	if before.told[a.Index] {
		says += r.say(", which was on its way", "，这条命令早已发出")
	}
	if step.Kind == trace.KindArrives && says == "" {
		says = r.say("it makes no difference", "没有影响")
	}
	return says + fate
}

// commandSentence tells what a's command did.
func (r *Recorder) commandSentence(before view, a *engine.Actor) string {
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
	return says
}

// stockSentence tells what a's command did with the stock, "" if nothing.
func (r *Recorder) stockSentence(before view, a *engine.Actor) string {
	is, reply := r.x.Cluster.Stored(), r.step.Reply
	left := is.Stock()
	writes := r.say("%s writes stock %s", "%s 写入库存 %s", a.Name, left)
	switch {
	case left != before.stored.Stock():
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
	case before.stored.HasOrder(a.Sale) && is == before.stored:
		return r.say("the ledger has %s's order already: nothing is written", "账本里已有 %s 的订单：什么也不写", a.Name)
	default:
		return writes
	}
}

// about reports whether the step's command names a key.
func (r *Recorder) about(key string) bool {
	return slices.Contains(strings.Fields(r.step.Command), key)
}

// changes tells what has changed for the actors.
func (r *Recorder) changes(before view) []string {
	var says []string
	for i, a := range r.x.Actors() {
		if r.checker.HasLossNotice(a.Index) && !before.told[i] {
			told := r.say("%s is told that it lost the lock", "%s 得知自己丢了锁", a.Name)
			if sent := a.Pending(); sent != nil && r.step.Kind == trace.KindTime { // that calls nothing back
				name, _ := Describe(sent)
				told += r.say(", while its %s is on its way", "，而它的 %s 早已发出", name)
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
