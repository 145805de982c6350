package workshop

import (
	"time"

	"lockstep/internal/explore"
)

// The exercises about counts and renewals.

func nested() Exercise {
	call := Look{explore.Scenario{Actors: 2, Nested: 1}, usual()}
	deeper := Look{explore.Scenario{Actors: 2, Nested: 2}, usual()}
	died := Look{
		explore.Scenario{Actors: 2, Nested: 1, Faults: explore.Faults{Crash: 1}},
		[]explore.Anomaly{explore.Stuck, explore.LeftBehind},
	}
	return Exercise{
		Name:  "nested",
		Title: say("A nested call", "嵌套调用"),
		Story: say(
			"The sale calls a function that takes the same lock again. The lock recognises its owner and lets it in. When that inner function "+
				"is done it "+
				"unlocks, and the lock is gone, although the sale around it has only begun.",
			"卖货时调用的函数又加了一次同一把锁。锁认出了 owner，放它进来。内层函数结束时解锁，"+
				"锁就没了，而外层那一单才刚刚开始。"),
		Claim: say("A nested call takes the lock and gives it back, and its caller still holds it.", "嵌套调用加锁又解锁之后，外层调用仍然持有锁。"),
		Hints: hints(
			say("How many times did the owner lock when it unlocks for the first time? Where does Redis know that number from?",
				"第一次解锁时，owner 一共加了几次锁？Redis 里哪里有这个数？"),
			say("enter counts: the hash has owner and count. leave does not look at the count.", "enter 在计数：哈希里是 owner 和次数。leave 没有看次数。"),
			say("In leave: redis.call('HINCRBY', KEYS[1], ARGV[1], -1), and DEL only if that gives 0.",
				"在 leave 里：redis.call('HINCRBY', KEYS[1], ARGV[1], -1)，结果为 0 时才 DEL。")),
		Looks:  []Look{call, deeper, died},
		Reason: explore.TwoHolders,
	}
}

func lostReply() Exercise {
	lost := explore.Faults{LostReply: 1}
	return Exercise{
		Name:  "lost-reply",
		Title: say("A count after a lost reply", "回复丢失之后的计数"),
		Story: say(
			"The network drops a reply. Redis has taken the lock and counted to 1, and nobody knows. The code asks once more, which "+
				"looks careful: the lock is its own, and Redis counts to 2. The sale unlocks once. The count stays at 1 until the lock expires.",
			"网络丢了一个回复。Redis 已经加了锁，计数为 1，却没有人知道。代码谨慎地又问了一次："+
				"锁是自己的，于是计数变成 2。这一单只解锁一次，计数停在 1，直到锁过期。"),
		Claim: say("After a lost reply, the count is right or the lock is given back: nobody waits for the expiry.",
			"回复丢失之后，要么计数正确，要么锁已归还：没有人需要等它过期。"),
		Hints: hints(
			say("What did Redis count, and what did the code count? Compare them after each step of the schedule.",
				"Redis 数到了几，代码数到了几？按时序逐步对照。"),
			say("A command whose reply is missing may have taken effect: lock.ErrOutcomeUnknown. Sending it again is right only if a second "+
				"time changes nothing.",
				"没有回复的命令可能已经生效：lock.ErrOutcomeUnknown。只有重复执行也不改变结果时，才可以重发。"),
			say("Do not ask again: count down what may have been counted, by lock.Undo with unlock, and return the error. Or let enter set a "+
				"count that "+
				"you keep, instead of adding one.",
				"不要重发：用 lock.Undo 调用 unlock，把可能多数的那次减回去，再返回错误。也可以自己记住次数，让 enter 直接写入这个次数，而不是加一。")),
		Looks: []Look{
			{explore.Scenario{Actors: 2, Nested: 1}, usual()},
			with(lost, usual()...),
			{explore.Scenario{Actors: 2, Nested: 1, Faults: lost}, usual()},
		},
		Reason: explore.Idle,
	}
}

func endlessRenewal() Exercise {
	return Exercise{
		Name:  "endless-renewal",
		Title: say("A renewal that never ends", "停不下来的续期"),
		Story: say(
			"Work may take longer than the expiry, so a goroutine renews the lock while the work goes on. The sale ends. The goroutine does "+
				"not: every third "+
				"of an expiry it asks Redis about a lock that is long gone. After a day there are a million of them.",
			"工作可能比过期时间更长，所以有个 goroutine 在工作期间续期。这一单结束了，goroutine 却没有："+
				"它每隔三分之一的过期时间，就为一把早已不在的锁去问 Redis。一天之后，这样的 goroutine 有一百万个。"),
		Claim: say("When a sale has ended, no goroutine of its lock is left, and a long sale keeps its lock.",
			"一单结束后，它的锁不留下任何 goroutine；而工作时间长的一单不会失去锁。"),
		Hints: hints(
			say("What would have to happen so that renew returns? Who makes it happen?", "要发生什么，renew 才会返回？由谁来触发？"),
			say("Give the renewal a context of its own, which unlock cancels: context.WithCancel.",
				"给续期一个自己的 context，由 unlock 取消：context.WithCancel。"),
			say("Not the request's context: it may end while the sale still works. And wait for the end, before the lock is given back: a "+
				"channel that renew "+
				"closes, and l.opts.Clock.Wait.",
				"不要用请求的 context：它可能在工作还没结束时就被取消。归还锁之前要等续期结束：让 renew 关闭一个 channel，再用 l.opts.Clock.Wait 等待。")),
		Looks: []Look{
			calm(),
			working(12*time.Second, usual()...),
			with(explore.Faults{Cancel: 1}, explore.GoroutineLeak, explore.TwoHolders, explore.Idle, explore.LeftBehind),
		},
		Reason: explore.GoroutineLeak,
	}
}

func blindRenewal() Exercise {
	return Exercise{
		Name:  "blind-renewal",
		Title: say("A renewal that never asks whose lock it is", "不问是谁的锁就续期"),
		Story: say(
			"The lock is renewed, and the renewal ends in time. But it sets the expiry of whatever is under the key. A process that slept past "+
				"its expiry wakes up, renews "+
				"the lock of somebody else, and takes the answer as proof that the lock is its own.",
			"锁会续期，续期也会按时结束。可它只管给这个键设过期时间，不管锁是谁的。一个睡过头的进程醒来，"+
				"给别人的锁续了期，还把成功的回复当成锁仍属于自己的证据。"),
		Claim: say("Nobody prolongs the lock of another, and a long sale keeps its own.", "谁都不会给别人的锁续期；工作时间长的一单不会失去自己的锁。"),
		Hints: hints(
			say("PEXPIRE answers 1. What exactly does that say?", "PEXPIRE 回复 1。它究竟说明了什么？"),
			say("As with the release: looking and extending must be one step of Redis, or the lock changes hands in between.",
				"和解锁一样：查看和续期必须是 Redis 的一步，否则锁会在中间易手。"),
			say("A script: if GET is ARGV[1], the owner, then PEXPIRE, else 0. For 0 return lock.ErrNotOwner: then the lease's context ends, "+
				"and the work stops.",
				"写一段脚本：GET 的结果等于 ARGV[1]（owner）时才 PEXPIRE，否则返回 0。返回 0 时要返回 lock.ErrNotOwner：租约的 context 随之结束，工作停止。")),
		Looks: []Look{
			calm(),
			{
				explore.Scenario{Actors: 2, Work: 4 * time.Second, Polls: explore.NoPolls, Faults: explore.Faults{Expiry: 1, Slow: 1}},
				[]explore.Anomaly{explore.ForeignRelease, explore.Stuck},
			},
			working(12*time.Second, usual()...),
		},
		Reason: explore.ForeignRelease,
	}
}
