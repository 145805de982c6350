package exercise

import (
	"cmp"
	"fmt"
	"time"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/verdict"
)

// say prints a message in the learner's language.
func (l Learner) say(english, chinese string, values ...any) {
	fmt.Fprint(l.People, l.In.Say(english, chinese, values...))
}

// sayTitle prints the id and the title of an exercise.
func (l Learner) sayTitle(e Exercise) {
	l.say("Exercise %s: %s\n", "练习 %s：%s\n", e.ID(), e.Title.In(l.In))
}

// sayNext prints and returns the next exercise; false if all are done.
func (l Learner) sayNext(p Progress) (next Exercise, left bool) {
	if next, left = firstNotDone(p); left {
		l.say("\nNext: %s, %s. Edit %s/lock.go.\n", "\n下一题：%s，%s。请编辑 %s/lock.go。\n", next.ID(), next.Title.In(l.In), next.Dir())
	} else {
		l.say("\nEvery exercise is done.\n", "\n所有练习都已完成。\n")
	}
	return next, left
}

// sayOutcome prints the outcome of a check.
func (l Learner) sayOutcome(e Exercise, o Outcome, p Progress) {
	l.sayTitle(e)
	claim := e.Claim.In(l.In)
	switch {
	case o.State == verdict.Done:
		l.say("Done. %s\nNo schedule breaks it: %d explored in %.1f s, with the compilation.\n",
			"完成。%s\n所有时序都满足要求：共 %d 种，连同编译用时 %.1f 秒。\n", claim, o.Schedules, o.Seconds)
		if p.Done != nil { // Without a saved progress, the next exercise is unknown.
			l.sayNext(p)
		}
	case o.State == verdict.NotYet && o.Anomaly == "":
		l.say("Not yet. The claim: %s\nNo schedule breaks it, but it was not put to the test: %s.\n",
			"还没有完成。要求：%s\n没有时序违反要求，但也没有覆盖到：%s。\n", claim, o.Says)
	case o.State == verdict.NotYet:
		in, _ := explore.ParseScenario(o.Scenario) // The check has parsed it before.
		in.Language = l.In
		l.say("Not yet. The claim: %s\nThe shortest schedule that breaks it has %s. It shows %s: %s (%s).\n\n",
			"还没有完成。要求：%s\n最少 %s即可违反，出现 %s：%s（%s）。\n\n",
			claim, stepCountText(o.Length, l.In), o.Anomaly, sentenceOf(e, o, in), scenarioText(o, l.In))
		fmt.Fprintln(l.People, o.Diagram)
		l.say("The schedule: %s\n", "时序：%s\n", o.Schedule)
		if !l.watches { // sayWatched prints this after the outcome.
			l.say("Edit %s/lock.go. Stuck? %s %s --hint\n", "请编辑 %s/lock.go。卡住了？%s %s --hint\n", e.Dir(), l.Typed, e.ID())
		}
	default:
		l.say("There is no verdict. %s\n", "无法判断。%s\n", o.Says)
		if o.Schedule != "" {
			l.say("\nThe schedule up to there: %s (%s)\n", "\n到出错为止的时序：%s（%s）\n", o.Schedule, scenarioText(o, l.In))
		}
	}
	if o.Printed {
		l.say("\nThe code prints something. It is not shown, because the code runs in every schedule.\n",
			"\n代码打印了内容，但不显示：代码在每个时序里都会运行。\n")
	}
}

// scenarioText returns the flags of an outcome's scenario, or "no fault" if there are none.
func scenarioText(o Outcome, in language.Language) string {
	return cmp.Or(o.Scenario, in.Say("no fault", "没有故障"))
}

// stepCountText returns a number of steps with its noun.
func stepCountText(n int, in language.Language) string {
	if n == 1 {
		return in.Say("1 step", "1 步")
	}
	return in.Say("%d steps", "%d 步", n)
}

// scheduleCountText returns a number of schedules with its noun.
func scheduleCountText(n int, in language.Language) string {
	if n == 1 {
		return in.Say("1 schedule", "1 种时序")
	}
	return in.Say("%d schedules", "%d 种时序", n)
}

// endlessDepth is a number of steps that a schedule of an exercise reaches only if the code tries again and again, and the explorer cannot
// tell that the attempts are the same.
const endlessDepth = 200

// incompleteText returns sentences about how far an exploration got until it reached a bound, and about what to change.
func incompleteText(o Outcome, bound string, depth int, in language.Language) string {
	done := in.Say("It reached its limit of %s (%s) after %s of up to %s, none of which breaks the claim. ",
		"达到上限 %s（%s）：已跑 %s，最多 %s，没有一个违反要求。",
		bound, scenarioText(o, in), scheduleCountText(o.Schedules, in), stepCountText(depth, in))
	if depth >= endlessDepth {
		return done + in.Say("So long a schedule means that the code tries again and again. If it does so without lock.Poll, use lock.Poll. "+
			"Otherwise look for something that each attempt needs, and does not get in this scenario.",
			"时序这么长，说明代码在反复尝试。如果没有用 lock.Poll，请改用它；如果用了，请找出每次尝试都需要、但在这个场景里得不到的东西。")
	}
	return done + in.Say("Each further command makes many more orders: use fewer, such as one script instead of several commands.",
		"每多一条命令，顺序就多出许多：请减少命令，比如把几条合成一个脚本。")
}

// sentenceOf returns a sentence about the anomaly of an outcome. For starvation with a limit of one it states that limit. The exercise
// untold also looks for timers, and for a context that ends with a cause other than lock.ErrLost.
func sentenceOf(e Exercise, o Outcome, in explore.Scenario) string {
	switch found := explore.Anomaly(o.Anomaly); {
	case found == anomaly.Starved && in.MaxOvertakes() == 1:
		return in.Say("a sale is overtaken more than once by sales that asked after it", "一单被后来的请求插队超过一次")
	case e.Name == "untold" && found == anomaly.GoroutineLeak:
		return in.Say("a goroutine still runs, or a timer was not stopped, after its sale has ended", "一单已经结束，它的 goroutine 还在运行，或定时器没有停止")
	case e.Name == "untold" && found == anomaly.Untold:
		return in.Say("a sale has lost the lock and works on, and its context has not ended with lock.ErrLost as the cause",
			"一单的锁丢失后还在继续执行，它的 context 没有以 lock.ErrLost 结束")
	default:
		return explore.AnomalyText(found, in)
	}
}

// sayProgress prints the number of exercises that are done, and how to continue.
func (l Learner) sayProgress(p Progress, done, all int) {
	l.say("\n%d of %d done.\n", "\n已完成 %d / %d。\n", done, all)
	if next, left := l.sayNext(p); left {
		l.say("Then: %s %s, or with --watch at each save.\n", "然后运行：%s %s；加 --watch 则每次保存都检查。\n", l.Typed, next.ID())
	}
}

// sayHints prints the hints that the learner has been given.
func (l Learner) sayHints(e Exercise, texts []string) {
	l.sayTitle(e)
	for i, text := range texts {
		l.say("\nHint %d of %d. %s\n", "\n提示 %d/%d：%s\n", i+1, HintsEach, text)
	}
	if len(texts) == HintsEach {
		l.say("\nThere are no more. The solution: %s %s --solution\n", "\n没有更多提示了。看解答：%s %s --solution\n", l.Typed, e.ID())
	}
}

// sayTooEarly prints that the solution is only shown on the second request.
func (l Learner) sayTooEarly(e Exercise) {
	l.say("It is not done yet. A hint: %s %s --hint\nAsk once more, and the solution is shown: %[1]s %[2]s --solution\n",
		"这一题还没有完成。先看提示：%s %s --hint\n再问一次，就显示解答：%[1]s %[2]s --solution\n", l.Typed, e.ID())
}

// sayWatched prints that the next save starts another check.
func (l Learner) sayWatched(e Exercise) {
	l.say("\nSave %s, and it is checked again. A hint: %s %s --hint. End: Ctrl-C.\n\n",
		"\n保存 %s 就会再次检查。提示：%s %s --hint。结束：Ctrl-C。\n\n", e.Dir()+"/lock.go", l.Typed, e.ID())
}

// sayNextCheck prints a line with the time between two checks.
func (l Learner) sayNextCheck() {
	l.say("──── %s ────\n\n", "──── %s ────\n\n", time.Now().Format(time.TimeOnly))
}

// Names of what is lost if the progress cannot be saved.

func resultText() language.Text {
	return language.Both("whether the exercise is done", "这一题是否完成")
}

func hintText() language.Text { return language.Both("that the hint was given", "给过这个提示") }

func solutionText() language.Text {
	return language.Both("that the solution was asked for", "问过一次解答")
}

// notSavedText returns the beginning of the message that the progress was not saved.
func notSavedText(what language.Text, in language.Language) string {
	return in.Say("%s was not saved: ", "没有记下%s：", what.In(in))
}
