package cli

import (
	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/learn/workshop"
)

// checkWords are the sentences of check.
type checkWords struct {
	in language.Language

	head, done, next, allDone, untested, broken, calm, schedule, help, failed string
	progress, how, hint, noMoreHints, solution, notShown, watching, forgotten string
}

func checkWordsIn(in language.Language) checkWords {
	say := func(english, chinese string) string { return language.Both(english, chinese).In(in) }
	return checkWords{
		in:   in,
		head: say("Exercise %s: %s\n", "练习 %s：%s\n"),
		done: say("Done. %s\nNo schedule shows otherwise: %d schedules in %.1f s, with the compilation.\n",
			"完成。%s\n没有任何时序能推翻它：共 %d 个时序，连同编译用时 %.1f 秒。\n"),
		next:    say("\nNext: %s, %s. Edit %s/lock.go.\n", "\n下一题：%s，%s。请编辑 %s/lock.go。\n"),
		allDone: say("\nEvery exercise is done.\n", "\n所有练习都已完成。\n"),
		untested: say("Not yet. The claim: %s\nNo schedule shows otherwise, but it was not put to the test: %s.\n",
			"还没有完成。要求：%s\n没有时序能推翻它，但也没有检验到：%s。\n"),
		broken: say("Not yet. The claim: %s\nThe shortest schedule that breaks it has %d steps. It shows %s: %s (%s).\n\n",
			"还没有完成。要求：%s\n打破它的最短时序有 %d 步，出现 %s：%s（%s）。\n\n"),
		calm:     say("no fault", "没有故障"),
		schedule: say("The schedule: %s\n", "时序：%s\n"),
		help:     say("Edit %s/lock.go. Stuck? %s %s --hint\n", "请编辑 %s/lock.go。卡住了？%s %s --hint\n"),
		failed:   say("It cannot be said. %s\n\n%s\n", "无法判断。%s\n\n%s\n"),
		progress: say("\n%d of %d done.\n", "\n已完成 %d / %d。\n"),
		how:      say("Then: %s %s, or with --watch at each save.\n", "然后运行：%s %s；加 --watch 则每次保存都检查。\n"),
		hint:     say("\nHint %d of %d. %s\n", "\n提示 %d/%d：%s\n"),
		noMoreHints: say("\nThere are no more. The solution: %s %s --solution\n",
			"\n没有更多提示了。看解答：%s %s --solution\n"),
		forgotten: say("whether the exercise is done was not written down: %w", "没有记下这一题是否完成：%w"),
		solution:  say("// %s\n\n", "// %s\n\n"),
		notShown: say("It is not done yet. A hint: %s %s --hint\nAsk once more, and the solution is shown: %s %s --solution\n",
			"这一题还没有完成。先看提示：%s %s --hint\n再问一次，就显示解答：%s %s --solution\n"),
		watching: say("\nSave %s, and it is checked again. A hint: %s %s --hint. End: Ctrl-C.\n\n",
			"\n保存 %s 就会再次检查。提示：%s %s --hint。结束：Ctrl-C。\n\n"),
	}
}

// anomaly says what goes wrong.
func (w checkWords) anomaly(name string) string {
	return explore.Anomaly(name).Says().In(w.in)
}

// trouble says why nothing can be said.
func (w checkWords) trouble(reason string) string {
	say := func(english, chinese string) string { return language.Both(english, chinese).In(w.in) }
	switch reason {
	case workshop.NotCompiled:
		return say("The code does not compile:", "代码无法编译：")
	case workshop.Panicked:
		return say("The code panics:", "代码 panic 了：")
	case workshop.Blind:
		return say("The code waits, loops, or starts a goroutine where the explorer cannot see it. Wait by lock.Sleep, lock.Poll or Clock.Wait, "+
			"and start goroutines by Clock.Go:",
			"代码在探索器看不到的地方等待、循环或启动了 goroutine。请用 lock.Sleep、lock.Poll 或 Clock.Wait 等待，用 Clock.Go 启动 goroutine：")
	case workshop.Unrepeatable:
		return say("The code does not do the same twice. Time comes from its clock, and there is no chance:",
			"同样的步骤，代码两次做得不一样。时间只能取自它的时钟，也不能用随机数：")
	case workshop.BadCommand:
		return say("The explorer's Redis does not have a command:", "探索器的 Redis 没有这条命令：")
	case workshop.TimedOut:
		return say("The code makes too many schedules, or never ends. A waiter has to pause between two attempts. It was stopped after:",
			"时序太多，或者代码不会结束。等待者在两次尝试之间必须停顿。检查被中止于：")
	default:
		return say("Trouble:", "出错了：")
	}
}
