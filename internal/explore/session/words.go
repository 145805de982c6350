package session

import (
	"slices"
	"strings"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/fault"
	"lockstep/internal/language"
	"lockstep/internal/trace"
)

// whyActor says why an actor does nothing by itself, "" if there is no reason.
func (o outlook) whyActor(a *engine.Actor) string {
	why, due := a.Standstill()
	say := o.Engine.Scenario.Say
	switch {
	case a.Dead():
		return say("%s is dead", "%s 已崩溃", a.Name)
	case a.Finished():
		return say("%s's sale has ended", "%s 的下单已经结束", a.Name)
	case a.Paused():
		return say("%s is paused until %s resumes", "%s 已暂停，直到 %s 恢复", a.Name, a.Process.Name)
	case why == engine.AsksInVain:
		return say("%s waits%s: another attempt would get the same answer", "%s 在等待%s：再试一次，结果也一样", a.Name, o.held(a))
	case why == engine.WaitsForReply:
		return say("%s waits for a node that does not answer", "%s 在等一个不响应的节点", a.Name)
	case why == engine.WaitsForTime:
		return say("%s waits until %v", "%s 等到时刻 %v", a.Name, due.Round(time.Millisecond)) + o.message(a) + o.held(a)
	case why == engine.WaitsForOther:
		return say("%s waits for another goroutine of its process", "%s 在等同一进程的另一个 goroutine", a.Name) + o.message(a) + o.held(a)
	default:
		return ""
	}
}

// message says that a message may come for an actor before what it waits for.
func (o outlook) message(a *engine.Actor) string {
	if a.Process.IsListening() {
		return o.Engine.Scenario.Say(", or for a message", "，或等来一条消息")
	}
	return ""
}

// held says whose the lock is that an actor may wait for.
func (o outlook) held(a *engine.Actor) string {
	if holder := o.Holder(); holder != nil && holder != a {
		return o.Engine.Scenario.Say(", while the lock is %s's", "，锁现在是 %s 的", holder.Name)
	}
	return ""
}

// whyTime says why time does not pass by itself, "" if it does, or if nothing is due.
func (o outlook) whyTime() string {
	passes := slices.ContainsFunc(o.possible, func(t engine.Transition) bool { return t.Kind == engine.TimePasses })
	if passes || !o.Engine.HasTimer() && o.Engine.Cluster.NextExpiry() == 0 {
		return ""
	}
	return o.Engine.Scenario.Say("time does not pass by itself while somebody can move", "还有参与者可以继续，时间不会自己流逝")
}

// whyFault says why a fault that the scenario allows cannot happen now.
func (o outlook) whyFault(f fault.Fault, allowed int) string {
	say := o.Engine.Scenario.Say
	if o.Engine.Snapshot().RemainingBudget[f] == 0 {
		return say("the budget %v=%d is used up", "预算 %v=%d 已用完", f, allowed)
	}
	switch f {
	case fault.Expiry, fault.RedisClock:
		if o.Engine.Cluster.NextExpiry() == 0 {
			return say("no key in Redis is to expire", "Redis 里没有会过期的键")
		}
	case fault.Slow:
		if !o.Engine.HasTimer() {
			return say("no timer is set", "没有设置定时器")
		}
		if !o.Engine.IsTimerNext() {
			return say("a key expires before the next timer fires", "下一个定时器触发之前，有键先过期")
		}
	default:
		return missing(f).In(o.Engine.Scenario.Language)
	}
	return say("nobody could move before it: time passes by itself", "在此之前没有参与者可以继续：时间会自己流逝")
}

// missing says what a fault needs that is not there.
func missing(f fault.Fault) language.Text {
	both := language.Both
	switch f {
	case fault.LostWake:
		return both("no message is under way", "没有在途的消息")
	case fault.Timeout:
		return both("nobody waits for the lock", "没有参与者在等锁")
	case fault.Failover:
		return both("Redis would lose nothing", "Redis 不会丢失任何改动")
	case fault.Rollback:
		return both("a restart would lose nothing", "重启不会丢失任何改动")
	case fault.Evict:
		return both("the lock is not there, or has no expiry", "锁不在，或没有过期时间")
	case fault.Pause, fault.Crash, fault.Cancel, fault.ClockJump:
		return both("no sale is going on", "没有进行中的下单")
	case fault.NodeCrash, fault.NodeHang, fault.NodeRestart:
		return both("nobody is about to send a command to a healthy node", "没有参与者正要向正常的节点发命令")
	default:
		return both("nobody is about to send a command", "没有参与者正要发命令")
	}
}

// stances says where each actor stands.
func (o *other) stances(step *trace.Step) string {
	var all []string
	for i, a := range o.run.Engine.Actors() {
		all = append(all, a.Name+" "+step.Standing[i].In(o.in.Language))
	}
	return strings.Join(all, o.in.Say(", ", "，"))
}

// differences says how steps of two locks differ: in what happens, or in what is so then; and if they do, in their commands.
func differences(locks [2]string, steps [2]*trace.Step, second *other) (why []string) {
	in, both := second.in, language.Both
	differ := func(what language.Text, of func(*trace.Step) string) {
		if does, other := of(steps[0]), of(steps[1]); does != other {
			why = append(why, in.Say("%s: under %s, %s; under %s, %s", "%s：%s 是“%s”，%s 是“%s”",
				what.In(in.Language), locks[0], does, locks[1], other))
		}
	}
	differ(both("What happens", "发生的事"), func(s *trace.Step) string { return s.Says })
	differ(both("The state then", "之后的状态"), func(s *trace.Step) string { return s.State(in.Language) })
	differ(both("Where the actors stand", "参与者的状态"), second.stances)
	if len(why) > 0 && steps[0].Command != "" {
		differ(both("The command", "命令"), func(s *trace.Step) string {
			if s.Command == "" {
				return in.Say("none", "没有命令")
			}
			return s.Command + " → " + s.Reply
		})
	}
	return why
}

// impossibleUnder says why the second lock cannot do what the first one did.
func impossibleUnder(lock, why string, in explore.Scenario) string {
	return in.Say("Under %s this cannot happen: %s", "在 %s 下这不可能发生：%s", lock, why)
}

// choicesAre says what can happen instead of what is no choice.
func choicesAre(tokens []string, in explore.Scenario) string {
	if len(tokens) == 0 {
		return in.Say("nothing more can happen", "已经没有下一步")
	}
	return in.Say("what can happen is %s", "可以发生的是 %s", strings.Join(tokens, in.Say(", ", "、")))
}

// goesOn says what a step does that does nothing to be seen.
func goesOn(who string, in explore.Scenario) string { return in.Say("%s goes on", "%s 继续", who) }

// notShown says that a schedule does not show an anomaly.
func notShown(a explore.Anomaly, in explore.Scenario) string {
	return in.Say("it does not show %s", "它没有出现 %s", a)
}

// serverName is how people call a server.
func serverName(index int, in explore.Scenario) string {
	if index == 0 {
		return "Redis"
	}
	return in.Say("node %d", "节点 %d", index)
}
