package explore

import (
	"fmt"
	"strings"
	"time"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/judge"
	"lockstep/internal/explore/search"
	"lockstep/internal/language"
)

// BoundSays says which bound ended a search; "" for none.
func BoundSays(hit search.BoundHit, in language.Language) string {
	switch hit.Limit {
	case search.LimitInterrupted:
		return in.Say("interrupted", "被中断")
	case search.LimitSteps:
		return in.Say("%d steps", "%d 步", hit.Most)
	case search.LimitSchedules:
		return in.Say("%d schedules", "%d 种时序", hit.Most)
	case search.LimitMemory:
		return in.Say("%d MB of memory", "%d MB 内存", hit.Most>>20)
	case search.LimitTime:
		return time.Duration(hit.Most).String()
	default:
		return ""
	}
}

// SentenceOf says what an anomaly is in a scenario, in its language: a lock may have to be free after a time.
func SentenceOf(a Anomaly, in Scenario) string {
	if a == anomaly.LeftBehind && in.FreedWithin > 0 {
		return in.Say("a lock stays for longer than %v, although no sale holds it", "没有一单持有锁，锁却残留超过 %v", in.FreedWithin)
	}
	return a.Row().Says.In(in.Language)
}

// Bound says which bound was hit, or that the search was interrupted; "" for neither.
func (r Result) Bound() string { return BoundSays(r.BoundHit, r.Scenario.Language) }

// Untested says what was not put to the test: nobody sold, although everything was explored, a fault that was allowed never happened, or
// nobody can say what time would bring, or whether what was looked for happens.
func (r Result) Untested() (all []string) {
	if r.Coverage.Undecided {
		all = append(all, r.Scenario.Say("a wait that a clock may end was not seen to its end", "有一次等待可能随时间结束，但没有探索到它结束"))
	}
	if len(r.lookedFor) > 0 && len(r.Unjudged()) == len(r.lookedFor) {
		all = append(all, r.Scenario.Say("Redis does not tell whether it happens", "从 Redis 看不出是否发生"))
	}
	if r.Complete && !r.Coverage.Sold() {
		all = append(all, r.Scenario.Say("no sale succeeded in any schedule", "所有时序里一件也没有卖出"))
	}
	for _, f := range AllFaults() {
		if r.Scenario.Faults[f.ID] > 0 && r.Coverage.Faults[f.Name] == 0 {
			all = append(all, r.Scenario.Say("%s never happened", "故障 %s 从未发生", f.Name))
		}
	}
	return all
}

// Cut says what was left out, in phrases: what was not explored, or not put to the test. It is empty if the answer is true without a limit
// but the scenario's.
func (r Result) Cut() (all []string) {
	if r.Bound() != "" {
		all = append(all, r.Scenario.Say("the exploration ended early: %s", "探索提前结束：%s", r.Bound()))
	}
	all = append(all, r.Untested()...)
	return append(all, r.limits()...)
}

// limits says what the answer that a lock holds leaves out: the anomalies that could not be judged.
func (r Result) limits() (all []string) {
	var names []string
	for _, a := range r.Unjudged() {
		names = append(names, string(a))
	}
	if len(names) > 0 && len(names) < len(r.lookedFor) {
		all = append(all, r.Scenario.Say("%s not judged, as Redis does not tell", "%s 无法判断，因为从 Redis 看不出来",
			judge.Enumeration(names, r.Scenario.Language)))
	}
	return all
}

// But says why the answer is not that it holds: what Cut says, but for the limits of any answer.
func (r Result) But() string {
	all := r.Cut()
	return strings.Join(all[:len(all)-len(r.limits())], r.Scenario.Say(", and ", "，而且"))
}

// Setting says in what was explored: the scenario, and its limits.
func (r Result) Setting() string {
	in := r.Scenario
	flags := in.String()
	if in.Actors == 2 {
		flags = strings.TrimSpace(in.Say("2 actors ", "2 个参与者 ") + flags)
	}
	all := []string{flags}
	if r.segments > 0 {
		all = append(all, in.Say("%d segments, all but one sold out", "%d 段库存，只有一段没卖完", r.segments))
	}
	return strings.Join(append(all, r.limits()...), in.Say(", ", "，"))
}

// UnknownMeans says what a cell means that is unknown.
func UnknownMeans(in language.Language) string {
	return in.Say("no schedule shows it, but a bound was hit, or Redis does not tell", "没有出现，但还没探索完就到了上限，或者从 Redis 看不出来")
}

// Error implements error.
func (e *StaleError) Error() string {
	if e.Needs != "" {
		return e.Why
	}
	return fmt.Sprintf(language.Both(ErrStale.Error()+": %s", "时序与代码不符：%s").In(e.in), e.Why)
}

// Lacking says which faults a schedule needs, if its steps up to one need more than the scenario allows; otherwise it returns nil.
func Lacking(in engine.Scenario, upTo, schedule string) error {
	if in.Faults.Max(engine.RequiredBudget(upTo)) == in.Faults {
		return nil
	}
	needs := in.Faults.Max(engine.RequiredBudget(schedule)).String()
	return &StaleError{Why: in.Say("it needs --faults %s", "需要 --faults %s", needs), Needs: needs, in: in.Language}
}

// AtStep says at which step of a schedule, counted from 1, something is wrong.
func AtStep(in engine.Scenario, step int, token string, err error) error {
	return fmt.Errorf("%s%w", in.Say("step %d, %s: ", "第 %d 步 %s：", step, token), err)
}

// insteadSays says what a schedule could go on with instead.
func insteadSays(possible []string, in language.Language) string {
	if len(possible) == 0 {
		return in.Say("nothing more can happen at this point", "此时已经没有下一步")
	}
	return in.Say("what can happen at this point is %s", "此时可以发生的是 %s", strings.Join(possible, in.Say(", ", "、")))
}

// withoutFaultSays says that a step has no part in the fault that a schedule names.
func withoutFaultSays(who string, in language.Language) string {
	return in.Say("%s would be as it is without that fault", "%s 没有这个故障也一样", who)
}

// otherStepSays says that the next step is another one.
func otherStepSays(who, next, wanted string, in language.Language) string {
	return in.Say("what %s does next is %s, not %s", "%s 下一步是 %s，不是 %s", who, next, wanted)
}
