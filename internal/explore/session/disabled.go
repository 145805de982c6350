package session

import (
	"slices"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/explore/engine"
	"lockstep/internal/language"
)

// Disabled is something that a reader may expect to happen next, and that cannot.
type Disabled struct {
	What string `json:"what"` // an actor, a fault that the scenario allows, or time
	Why  string `json:"why"`
}

// outlook is a run, and what is possible in it.
type outlook struct {
	*explore.Run
	possible []engine.Transition
}

// disabled lists the actors that do nothing by themselves, and, unless the schedule is over, the faults that cannot happen and time.
func disabled(run *explore.Run, possible []engine.Transition, over bool) []Disabled {
	o, all := outlook{run, possible}, []Disabled{}
	for _, a := range run.Actors() {
		if why := o.whyActor(a); why != "" && !o.canMove(a) {
			all = append(all, Disabled{a.Name, why})
		}
	}
	if over {
		return all
	}
	if why := o.whyTime(); why != "" {
		all = append(all, Disabled{"time", why})
	}
	allowed := run.Scenario.Faults.Map()
	for _, name := range explore.FaultNames() {
		happens := func(t engine.Transition) bool { return t.Kind.Budget() == name }
		if allowed[name] > 0 && !slices.ContainsFunc(possible, happens) {
			all = append(all, Disabled{name, o.whyFault(name, allowed[name])})
		}
	}
	return all
}

// canMove reports whether an actor can do something by itself.
func (o outlook) canMove(a *engine.Actor) bool {
	return slices.ContainsFunc(o.possible, func(t engine.Transition) bool {
		move := t.Kind == engine.Moves || t.Kind == engine.Polls || t.Kind == engine.PollsOn
		return move && o.Who(t) == a.Name
	})
}

// whyActor says why an actor does nothing by itself, "" if there is no reason.
func (o outlook) whyActor(a *engine.Actor) string {
	why, due := o.Standstill(a)
	say := o.Scenario.Say
	switch {
	case a.Dead():
		return say("%s is dead", "%s 已崩溃", a.Name)
	case a.Finished():
		return say("%s's sale has ended", "%s 的下单已经结束", a.Name)
	case a.Paused():
		return say("%s is paused until %s resumes", "%s 已暂停，直到 %s 恢复", a.Name, a.Process.Name)
	case why == engine.AsksInVain:
		says := say("%s waits%s: it would be told what it was told before", "%s 在等待%s：再问一次，结果也一样", a.Name, o.held(a))
		if len(o.possible) > 0 && o.PollsLeft() == 0 {
			says += say(", and has been as often as the scenario allows", "，次数已达场景的上限")
		}
		return says
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
	if o.Listens(a.Process) {
		return o.Scenario.Say(", or for a message", "，或等来一条消息")
	}
	return ""
}

// held says whose the lock is that an actor may wait for.
func (o outlook) held(a *engine.Actor) string {
	if holder := o.Holder(); holder != nil && holder != a {
		return o.Scenario.Say(", while the lock is %s's", "，锁现在是 %s 的", holder.Name)
	}
	return ""
}

// whyTime says why time does not pass by itself, "" if it does, or if nothing is due.
func (o outlook) whyTime() string {
	passes := slices.ContainsFunc(o.possible, func(t engine.Transition) bool { return t.Kind == engine.TimePasses })
	if passes || !o.HasTimer() && o.Cluster.NextExpiry() == 0 {
		return ""
	}
	return o.Scenario.Say("time does not pass by itself while somebody can move", "还有参与者可以继续，时间不会自己流逝")
}

// whyFault says why a fault that the scenario allows cannot happen now.
func (o outlook) whyFault(name string, allowed int) string {
	say := o.Scenario.Say
	if o.Left().Map()[name] == 0 {
		return say("the budget %s=%d is used up", "预算 %s=%d 已用完", name, allowed)
	}
	switch name {
	case "expiry", "redis-clock":
		if o.Cluster.NextExpiry() == 0 {
			return say("no key in Redis is to expire", "Redis 里没有会过期的键")
		}
	case "slow":
		if !o.HasTimer() {
			return say("no timer is set", "没有在走的定时器")
		}
		if !o.TimerNext() {
			return say("a key expires before the next timer fires", "下一个定时器触发之前，有键先过期")
		}
	default:
		return missing(name).In(o.Scenario.Language)
	}
	return say("nobody could move before it: time passes by itself", "在此之前没有参与者可以继续：时间会自己流逝")
}

// missing says what a fault needs that is not there.
func missing(name string) language.Text {
	both := language.Both
	switch name {
	case "lost-wake":
		return both("no message is under way", "没有在途的消息")
	case "spurious-wake":
		return both("no process waits for a message", "没有进程在等消息")
	case "timeout":
		return both("nobody waits for the lock", "没有参与者在等锁")
	case "failover":
		return both("Redis would lose nothing", "Redis 不会丢失任何改动")
	case "rollback":
		return both("a restart would lose nothing", "重启不会丢失任何改动")
	case "evict":
		return both("the lock is not there, or has no expiry", "锁不在，或没有过期时间")
	case "pause", "crash", "cancel", "clock-jump":
		return both("no sale is going on", "没有进行中的下单")
	case "node-crash", "node-hang", "node-restart":
		return both("nobody is about to ask a node that is well", "没有参与者正要向正常的节点发命令")
	default:
		return both("nobody is about to send a command", "没有参与者正要发命令")
	}
}
