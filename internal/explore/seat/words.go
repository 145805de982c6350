package seat

import (
	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/trace"
)

// otherwise says that a step does something else than when its link was made.
func otherwise(in explore.Scenario, n int, step trace.Step) string {
	now := step.Says
	if step.Command != "" {
		now = step.Command + " → " + step.Reply
	}
	return in.Say("step %d, %s, does something else than when the link was made; now: %s",
		"第 %d 步 %s 与生成链接时的行为不同，现在是：%s", n, step.Token, now)
}

// task is what a reader sets out to do.
func task(lock string, goal explore.Anomaly, in language.Language) string {
	return in.Say("Make %s %s", "让 %s %s", lock, goal.Row().Task.In(in))
}
