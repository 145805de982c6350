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

// reasonActorWaits returns the reason why an actor cannot move; "": none.
func (c runChoices) reasonActorWaits(a *engine.Actor) string {
	standstill, due := a.Standstill()
	say := c.Engine.Scenario.Say
	switch {
	case a.Dead():
		return say("%s is dead", "%s 已崩溃", a.Name)
	case a.Finished():
		return say("%s's sale has ended", "%s 这一单已经结束", a.Name)
	case a.Paused():
		return say("%s is paused until %s resumes", "%s 已暂停，直到 %s 恢复", a.Name, a.Process.Name)
	case standstill == engine.AsksInVain:
		return say("%s waits%s: another attempt would get the same answer", "%s 在等待%s：再试一次，结果也一样", a.Name, c.holderText(a))
	case standstill == engine.WaitsForReply:
		return say("%s waits for a node that does not answer", "%s 在等一个不响应的节点", a.Name)
	case standstill == engine.WaitsForTime:
		return say("%s waits until %v", "%s 等到时刻 %v", a.Name, due.Round(time.Millisecond)) + c.orMessageText(a) + c.holderText(a)
	case standstill == engine.WaitsForOther:
		return say("%s waits for another goroutine of its process", "%s 在等同一进程的另一个 goroutine", a.Name) + c.orMessageText(a) + c.holderText(a)
	default:
		return ""
	}
}

// orMessageText returns a phrase that a message may end an actor's wait earlier; "" if its process listens for none.
func (c runChoices) orMessageText(a *engine.Actor) string {
	if a.Process.IsListening() {
		return c.Engine.Scenario.Say(", or for a message", "，或等来一条消息")
	}
	return ""
}

// holderText returns a phrase with the holder of the lock; "" if nobody else holds it.
func (c runChoices) holderText(a *engine.Actor) string {
	if holder := c.Holder(); holder != nil && holder != a {
		return c.Engine.Scenario.Say(", while %s holds the lock", "，锁现在是 %s 的", holder.Name)
	}
	return ""
}

// reasonTimeStops returns the reason why time does not pass; "" if time can pass, or if no timer or expiry is due.
func (c runChoices) reasonTimeStops() string {
	passes := slices.ContainsFunc(c.possible, func(t engine.Transition) bool { return t.Kind == engine.TimePasses })
	if passes || !c.Engine.HasTimer() && c.Engine.Cluster.NextExpiry() == 0 {
		return ""
	}
	return c.Engine.Scenario.Say("time does not pass by itself while somebody can move", "还有参与方可以继续，时间不会自己流逝")
}

// reasonNoFault returns the reason why an allowed fault cannot happen now.
func (c runChoices) reasonNoFault(f fault.Fault, allowed int) string {
	say := c.Engine.Scenario.Say
	if c.Engine.Snapshot().RemainingBudget[f] == 0 {
		return say("the budget %v=%d is used up", "%v=%d 的次数已用完", f, allowed)
	}
	switch f {
	case fault.Expiry, fault.RedisClock:
		if c.Engine.Cluster.NextExpiry() == 0 {
			return say("no key in Redis has an expiry", "Redis 里没有会过期的键")
		}
	case fault.Slow:
		if !c.Engine.HasTimer() {
			return say("no timer is set", "没有设置定时器")
		}
		if !c.Engine.IsTimerNext() {
			return say("a key expires before the next timer fires", "下一个定时器触发之前，有键先过期")
		}
	default:
		return missingForFault(f).In(c.Engine.Scenario.Language)
	}
	return say("nobody can move before that, so time passes by itself", "在此之前没有参与方可以继续，时间会自己流逝")
}

// missingForFault returns the condition that is missing for a fault to happen.
func missingForFault(f fault.Fault) language.Text {
	text := language.Both
	switch f {
	case fault.LostWake:
		return text("no message is in transit", "没有在途的消息")
	case fault.Timeout:
		return text("nobody waits for the lock", "没有参与方在等锁")
	case fault.Failover:
		return text("Redis would lose nothing", "Redis 不会丢失任何改动")
	case fault.Rollback:
		return text("a restart would lose nothing", "重启不会丢失任何改动")
	case fault.Evict:
		return text("there is no lock, or it has no expiry", "没有锁，或锁没有过期时间")
	case fault.Pause, fault.Crash, fault.Cancel, fault.ClockJump:
		return text("no sale is going on", "没有进行中的一单")
	case fault.NodeCrash, fault.NodeHang, fault.NodeRestart:
		return text("nobody is about to send a command to a healthy node", "没有参与方正要向正常的节点发命令")
	default:
		return text("nobody is about to send a command", "没有参与方正要发命令")
	}
}

// stancesText returns the stance of each actor after a step.
func (s *secondLock) stancesText(step *trace.Step) string {
	var all []string
	for i, a := range s.run.Engine.Actors() {
		all = append(all, a.Name+" "+step.Standing[i].In(s.scenario.Language))
	}
	return strings.Join(all, s.scenario.Say(", ", "，"))
}

// differenceTexts returns sentences about how corresponding steps differ: in their meaning or in the state after them and, if so, in their
// commands.
func differenceTexts(locks [2]string, steps [2]*trace.Step, second *secondLock) (why []string) {
	scenario, both := second.scenario, language.Both
	addIfDifferent := func(what language.Text, text func(*trace.Step) string) {
		if firstText, secondText := text(steps[0]), text(steps[1]); firstText != secondText {
			why = append(why, scenario.Say("%s: under %s, %s; under %s, %s", "%s：%s 是“%s”，%s 是“%s”",
				what.In(scenario.Language), locks[0], firstText, locks[1], secondText))
		}
	}
	addIfDifferent(both("What happens", "发生的事"), func(s *trace.Step) string { return s.Says })
	addIfDifferent(both("The state after it", "之后的状态"), func(s *trace.Step) string { return s.State(scenario.Language) })
	addIfDifferent(both("The state of the actors", "参与方的状态"), second.stancesText)
	if len(why) > 0 && steps[0].Command != "" {
		addIfDifferent(both("The command", "命令"), func(s *trace.Step) string {
			if s.Command == "" {
				return scenario.Say("none", "没有命令")
			}
			return s.Command + " → " + s.Reply
		})
	}
	return why
}

// impossibleText returns a sentence about why a step cannot happen under a lock.
func impossibleText(lock, why string, scenario explore.Scenario) string {
	return scenario.Say("Under %s this cannot happen: %s", "在 %s 下这不可能发生：%s", lock, why)
}

// choicesText returns a list of the possible tokens.
func choicesText(tokens []string, scenario explore.Scenario) string {
	if len(tokens) == 0 {
		return scenario.Say("nothing more can happen", "已经没有下一步")
	}
	return scenario.Say("what can happen is %s", "可以发生的是 %s", strings.Join(tokens, scenario.Say(", ", "、")))
}

// continuesText returns the description of a step without a visible effect.
func continuesText(actor string, scenario explore.Scenario) string {
	return scenario.Say("%s continues", "%s 继续", actor)
}

// notShownText returns the reason that a schedule does not show an anomaly.
func notShownText(a explore.Anomaly, scenario explore.Scenario) string {
	return scenario.Say("it does not show %s", "它没有出现 %s", a)
}

// serverName returns the display name of a server.
func serverName(index int, scenario explore.Scenario) string {
	if index == 0 {
		return "Redis"
	}
	return scenario.Say("node %d", "节点 %d", index)
}
