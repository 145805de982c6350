package exercise

import "lockstep/internal/language"

// Trouble returns the explanation of the Reason of a failed check.
func (o Outcome) Trouble() language.Text {
	return map[string]language.Text{
		NotCompiled: language.Both("The code does not compile:", "代码无法编译："),
		Panicked:    language.Both("The code panics:", "代码 panic 了："),
		Blind: language.Both("The code waits, loops, or starts a goroutine where the explorer cannot see it. "+
			"Wait by lock.Sleep, lock.Poll or Clock.Wait, and start goroutines by Clock.Go:",
			"代码在探索器看不到的地方等待、循环或启动了 goroutine。请用 lock.Sleep、lock.Poll 或 Clock.Wait 等待，用 Clock.Go 启动 goroutine："),
		UndeclaredPoll: language.Both("An attempt is not the last one once more. Let the code ask by lock.Poll, and each attempt do the same:",
			"有一次重试不是把上一次再做一遍。请用 lock.Poll 重试，每次尝试都做同样的事："),
		Unrepeatable: language.Both("The code does not do the same twice. Time comes from its clock, and there is no chance:",
			"同样的步骤，代码两次做得不一样。时间只能取自它的时钟，也不能用随机数："),
		BadCommand: language.Both("The explorer's Redis does not have a command:", "探索器的 Redis 没有这条命令："),
		BadKey: language.Both("A key is not the lock's. The lock is opts.Key, and all its other keys begin with {distributedLock}:",
			"有一个键不属于这把锁。锁是 opts.Key，它的其他键都以 {distributedLock}: 开头："),
		Shared: language.Both(
			"All processes share a variable of the package, and it keeps its value from one schedule to the next. Put it into Locker:",
			"包级变量由所有进程共享，而且会把值从一个时序带到下一个。请把它放进 Locker："),
		TimedOut: language.Both(
			"The check was stopped before it had run every order, so the code neither passes nor fails. Each further command makes many more "+
				"orders: use fewer, such as one script. If the code polls, let it do so by lock.Poll, or it may never end. Stopped at:",
			"还没跑完所有顺序，检查就被中止了，所以既不算通过，也不算失败。每多一条命令，顺序就多出许多：请减少命令，比如合成一个脚本。"+
				"如果代码要轮询，请用 lock.Poll，否则可能永远不会结束。中止于："),
		OtherTrouble: language.Both("Trouble:", "出错了："),
	}[o.Reason]
}
