package report

import "lockstep/internal/explore"

// The messages of a walk.

// atStartText returns the answer to an undo without a step to take back.
func atStartText(scenario explore.Scenario) string {
	return scenario.Say("This is the start.", "这里是起点。")
}

// noChoiceText returns the answer to a number that is not in the menu.
func noChoiceText(n int, scenario explore.Scenario) string {
	return scenario.Say("There is no choice %d.", "没有第 %d 项。", n)
}

// noneLeftText returns the menu at the end of a schedule.
func noneLeftText(scenario explore.Scenario) string {
	return scenario.Say("  –  nothing more can happen\n", "  –  已经没有下一步\n")
}

// promptText returns the prompt for the next line.
func promptText(scenario explore.Scenario) string {
	return scenario.Say("\nnumber or token, u: undo, d: distance, ?: help, q: quit > ", "\n序号或写法，u：撤销，d：距离，?：帮助，q：退出 > ")
}
