package explore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/judge"
	"lockstep/internal/explore/search"
	"lockstep/internal/language"
)

// BoundText returns the bound that ended a search, with its value; "" if no bound did.
func BoundText(hit search.BoundHit, in language.Language) string {
	switch hit.Limit {
	case search.LimitInterrupted:
		return in.Say("interrupted", "被中断")
	case search.LimitSteps:
		return in.Say("%d steps", "%d 步", hit.Value)
	case search.LimitSchedules:
		return in.Say("%d schedules", "%d 种时序", hit.Value)
	case search.LimitMemory:
		return in.Say("%d MB of memory", "%d MB 内存", hit.Value>>20)
	case search.LimitTime:
		return time.Duration(hit.Value).String()
	default:
		return ""
	}
}

// AnomalyText returns the definition of an anomaly, in the language of a scenario. It takes into account that the scenario may require the
// lock to be free within a certain time.
func AnomalyText(a Anomaly, scenario Scenario) string {
	if a == anomaly.LeftBehind && scenario.FreedWithin > 0 {
		return scenario.Say("a lock stays for longer than %[1]v, although no sale holds it", "没有一单持有锁，锁却残留超过 %[2]g 分钟",
			scenario.FreedWithin, scenario.FreedWithin.Minutes())
	}
	return a.Row().Says.In(scenario.Language)
}

// Bound returns the bound that ended the exploration, or "interrupted"; "" if the exploration was complete.
func (r Result) Bound() string { return BoundText(r.BoundHit, r.Scenario.Language) }

// EndedEarly returns a phrase for an exploration that ended early. The phrase names the bound that ended the exploration.
func (r Result) EndedEarly() string {
	if r.Interrupted {
		return r.Scenario.Say("the exploration ended early: %s", "探索提前结束：%s", r.Bound())
	}
	return r.Scenario.Say("the exploration ended early: %s", "探索达到上限（%s），提前结束", r.Bound())
}

// Untested returns phrases for what the exploration did not test. There is one if no sale succeeded although everything was explored, if
// none waited for a lock although starvation was looked for, if an allowed fault never happened, if time might have ended a wait, or if
// Redis does not show whether an anomaly happens.
func (r Result) Untested() (all []string) {
	if r.Coverage.Undecided {
		all = append(all, r.Scenario.Say("a wait that time may end was not explored to its end", "有一次等待可能随时间结束，但没有探索到它结束"))
	}
	if len(r.targets) > 0 && len(r.Unjudged()) == len(r.targets) {
		all = append(all, r.Scenario.Say("Redis does not show whether it happens", "从 Redis 看不出是否发生"))
	}
	if r.Complete && slices.Contains(r.targets, anomaly.Starved) && r.Coverage.ContendedStates == 0 {
		all = append(all, r.Scenario.Say("no sale waited for a lock that another one held, so none could be overtaken",
			"没有一单等过别人持有的锁，也就无从插队"))
	}
	if r.Complete && !r.Coverage.HasSold() {
		all = append(all, r.Scenario.Say("no sale succeeded in any schedule", "所有时序里一件也没有卖出"))
	}
	for _, f := range AllFaults() {
		if r.Scenario.Faults[f.ID] > 0 && r.Coverage.Faults[f.Name] == 0 {
			all = append(all, r.Scenario.Say("%s never happened", "故障 %s 从未发生", f.Name))
		}
	}
	return all
}

// Omissions returns phrases for everything that was not explored, not tested or not judged. There are none if the answer is limited only by
// its scenario.
func (r Result) Omissions() (all []string) {
	if r.Bound() != "" {
		all = append(all, r.EndedEarly())
	}
	all = append(all, r.Untested()...)
	return append(all, r.unjudgedPhrases()...)
}

// unjudgedPhrases returns a phrase for the anomalies that could not be judged, if they are a part of those looked for. Such a phrase limits
// even the answer that a lock holds.
func (r Result) unjudgedPhrases() (all []string) {
	var names []string
	for _, a := range r.Unjudged() {
		names = append(names, string(a))
	}
	if len(names) > 0 && len(names) < len(r.targets) {
		all = append(all, r.Scenario.Say("%s not judged, because Redis does not show it", "%s 无法判断，因为从 Redis 看不出来",
			judge.Enumeration(names, r.Scenario.Language)))
	}
	return all
}

// Caveats returns the reasons why the answer cannot be that the lock holds: the Omissions without the unjudgedPhrases, which limit any
// answer. It returns "" if there are none.
func (r Result) Caveats() string {
	all := r.Omissions()
	return strings.Join(all[:len(all)-len(r.unjudgedPhrases())], r.Scenario.Say(", and ", "，而且"))
}

// Conditions returns the conditions under which the answer is true: the scenario, and the anomalies that could not be judged.
func (r Result) Conditions() string {
	scenario := r.Scenario
	flags := scenario.String()
	if scenario.Actors == 2 {
		flags = strings.TrimSpace(scenario.Say("2 actors ", "2 个参与方 ") + flags)
	}
	all := []string{flags}
	if r.segments > 0 {
		all = append(all, scenario.Say("%d segments, all but one sold out", "%d 段库存，只有一段没卖完", r.segments))
	}
	return strings.Join(append(all, r.unjudgedPhrases()...), scenario.Say(", ", "，"))
}

// UnknownText returns the explanation of an unknown cell of a table.
func UnknownText(in language.Language) string {
	return in.Say("no schedule shows it, but a bound was hit, or Redis does not show it", "没有出现，但还没探索完就到了上限，或者从 Redis 看不出来")
}

// Error returns the reason. It mentions ErrStale, unless the reason is the fault budget.
func (e *StaleError) Error() string {
	if e.NeededFaults != "" {
		return e.Reason
	}
	return fmt.Sprintf(language.Both(ErrStale.Error()+": %s", "时序与代码不符：%s").In(e.language), e.Reason)
}

// CheckBudget returns a StaleError if the beginning of a schedule has more faults than the scenario allows. The error names the budget that
// the whole schedule needs.
func CheckBudget(scenario engine.Scenario, beginning, schedule string) error {
	if scenario.Faults.Max(engine.RequiredBudget(beginning)) == scenario.Faults {
		return nil
	}
	needs := scenario.Faults.Max(engine.RequiredBudget(schedule)).String()
	return &StaleError{Reason: scenario.Say("it needs --faults %s", "需要 --faults %s", needs), NeededFaults: needs, language: scenario.Language}
}

// WrapStepError adds the position and the token of a schedule's step to an error. Steps are numbered from 1.
func WrapStepError(scenario engine.Scenario, step int, token string, err error) error {
	return fmt.Errorf("%s%w", scenario.Say("step %d, %s: ", "第 %d 步 %s：", step, token), err)
}

// alternativesText returns a list of the steps that are possible instead of the one in the schedule.
func alternativesText(possible []string, in language.Language) string {
	if len(possible) == 0 {
		return in.Say("nothing more can happen at this point", "此时已经没有下一步")
	}
	return in.Say("possible at this point: %s", "此时可选的步骤：%s", strings.Join(possible, in.Say(", ", "、")))
}

// withoutFaultText returns the text for a step to which the schedule's fault would make no difference.
func withoutFaultText(who string, in language.Language) string {
	return in.Say("that fault would make no difference to %s", "%s 没有这个故障也一样", who)
}

// otherStepText returns the text for an actor whose next step differs from the wanted one.
func otherStepText(who, next, wanted string, in language.Language) string {
	return in.Say("the next step of %s is %s, not %s", "%s 下一步是 %s，不是 %s", who, next, wanted)
}
