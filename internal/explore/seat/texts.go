package seat

import (
	"strconv"
	"strings"

	"lockstep/internal/explore"
	"lockstep/internal/explore/fault"
	"lockstep/internal/trace"
)

// differentStepText returns a sentence about a step that differs from when its link was made.
func differentStepText(scenario explore.Scenario, n int, step trace.Step) string {
	now := step.Says
	if step.Command != "" {
		now = step.Command + " → " + step.Reply
	}
	return scenario.Say("step %d, %s, does something else than when the link was made; now: %s",
		"第 %d 步 %s 与生成链接时的行为不同，现在是：%s", n, step.Token, now)
}

// missingFaultsText returns a sentence with the faults that a step needs and the scenario does not allow. needs is a budget such as
// expiry=1,node-crash=2.
func missingFaultsText(scenario explore.Scenario, step int, needs string) string {
	var words []string
	for budget := range strings.SplitSeq(needs, ",") {
		name, times, _ := strings.Cut(budget, "=")
		word := fault.ByName(name).Row().Title.In(scenario.Language)
		if n, err := strconv.Atoi(times); err == nil && n > 1 {
			word += " ×" + times
		}
		words = append(words, word)
	}
	return scenario.Say("step %d: the scenario allows too few faults for it. It takes: %s",
		"第 %d 步：场景允许的故障不够。需要：%s", step, strings.Join(words, scenario.Say(", ", "、")))
}

// nodesNeededText returns a sentence for a lock on one Redis, which says that it cannot run a schedule on several masters.
func nodesNeededText(lock string, scenario explore.Scenario) string {
	return scenario.Say(
		"%s cannot run this schedule: it is on one Redis, and the scenario has several masters. Compare it with a lock on several.",
		"%s 跑不了这个时序：它只用一个 Redis，而这个场景有多个主节点。请和同样用多个节点的锁对比。", lock)
}
