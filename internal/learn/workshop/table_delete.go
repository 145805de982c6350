package workshop

import (
	"time"

	"lockstep/internal/explore"
)

// The exercises about giving a lock back.

func expiry() Exercise {
	return Exercise{
		Name:  "expiry",
		Title: say("An expiry forgotten", "忘了过期时间"),
		Story: say(
			"The lock is right while all goes well: `SET NX` lets one sale in, and a script gives the lock back to nobody but its owner. "+
				"Then a replica is killed between the two. Its lock stays in Redis, and the shop never sells again.",
			"一切正常时这把锁没有问题：`SET NX` 只让一单进入，脚本只删除自己的锁。"+
				"可是某个副本在加锁之后、解锁之前被杀掉了。它的锁留在 Redis 里，商店从此卖不出一件。"),
		Claim: say("If a holder dies, the others can go on after a while.", "持有者崩溃之后，其他人过一会儿就能继续。"),
		Hints: hints(
			say("Read the last line of the schedule: who will ever delete the key? What could do it without being asked?",
				"看时序的最后一行：还有谁会删除这个键？谁能不请自来地删除它？"),
			say("Redis deletes keys by itself: an expiry. l.opts.TTL is how long it should be.",
				"Redis 能自己删除键：给键设过期时间。应设多长，见 l.opts.TTL。"),
			say("Set it with the very command that takes the lock: redis.SetArgs has a field TTL. A second command, EXPIRE, can be one too late.",
				"用加锁的同一条命令设置它：redis.SetArgs 有 TTL 字段。另发一条 EXPIRE 就可能来不及。")),
		Looks: []Look{
			calm(),
			with(explore.Faults{Crash: 1}, usual()...),
			working(8*time.Second, usual()...), // an expiry that is too short
		},
		Reason: explore.LeftBehind,
	}
}

func foreignDelete() Exercise {
	return Exercise{
		Name:  "foreign-delete",
		Title: say("A foreign delete", "删了别人的锁"),
		Story: say(
			"The lock has an expiry now, and a sale may work longer than that. When it is done it deletes the lock, as always. By then "+
				"the lock is the next sale's, and a third one walks in.",
			"锁有了过期时间，而一单可能工作得更久。它完成后照常删除锁。"+
				"可这时锁已经是下一单的了，于是第三单也走了进来。"),
		Claim: say("A sale that works longer than the expiry never deletes the lock of another.",
			"工作超过过期时间的一单，绝不删除别人的锁。"),
		Hints: hints(
			say("What does Redis hold under the key? Could anybody tell from it whose lock it is?",
				"这个键里存的是什么？从它能看出锁是谁的吗？"),
			say("Make the value the owner. Before you delete, read it.", "把值设为 owner。删除之前先读一读。"),
			say("GET; if there is no value: lock.ErrExpired; if it is not ours: lock.ErrNotOwner; else DEL. (A gap is left. The next exercise "+
				"is about it.)",
				"GET；没有值：lock.ErrExpired；不是自己的：lock.ErrNotOwner；否则 DEL。（其中还有一个空隙，留给下一题。）")),
		Looks: []Look{
			calm(),
			working(15*time.Second, explore.ForeignRelease, explore.FalseWord, explore.LeftBehind, explore.Stuck),
			working(28*time.Second, explore.ForeignRelease), // so that a longer expiry is no way out
			working(55*time.Second, explore.ForeignRelease),
			working(100*time.Second, explore.ForeignRelease),
			with(explore.Faults{Crash: 1}, explore.Stuck, explore.LeftBehind),
		},
		Reason: explore.ForeignRelease,
	}
}

func checkThenDelete() Exercise {
	return Exercise{
		Name:  "check-then-delete",
		Title: say("Check, then delete", "先查后删"),
		Story: say(
			"Unlock reads whose lock it is, and deletes it if it is its own. Between the two commands the lock can expire, and another sale "+
				"can take it. Then the delete hits that one's lock. It happens once in a million sales, on the day of the campaign.",
			"解锁时先读出锁是谁的，是自己的才删除。两条命令之间，锁可能过期并被另一单拿到。"+
				"于是删掉的是别人的锁。一百万单里也就一次，正好在大促当天。"),
		Claim: say("Whenever the lock expires, nobody deletes the lock of another.", "无论锁何时过期，谁都不会删除别人的锁。"),
		Hints: hints(
			say("Look at the schedule: which command of another sale came between your GET and your DEL?",
				"看时序：你的 GET 和 DEL 之间，夹进了别人的哪条命令？"),
			say("No second look helps, there is always a gap after it. Comparing and deleting must be one step of Redis.",
				"再查一次没有用，查完之后总有空隙。比较和删除必须是 Redis 的一步。"),
			say("Send a Lua script: client.Eval(ctx, script, []string{l.opts.Key}, owner). In it, redis.call('GET', KEYS[1]) == ARGV[1], "+
				"then redis.call('DEL', KEYS[1]). Let it answer which of the three cases it was.",
				"发送一段 Lua 脚本：client.Eval(ctx, script, []string{l.opts.Key}, owner)。脚本里先比较 redis.call('GET', KEYS[1]) == ARGV[1]，"+
					"再 redis.call('DEL', KEYS[1])，并返回属于三种情况中的哪一种。")),
		Looks: []Look{
			calm(),
			with(explore.Faults{Expiry: 1}, explore.ForeignRelease, explore.LeftBehind, explore.Stuck),
			with(explore.Faults{Expiry: 1}, explore.FalseWord),
			with(explore.Faults{Crash: 1}, explore.Stuck, explore.LeftBehind),
		},
		Reason: explore.ForeignRelease,
	}
}

func cancelledUnlock() Exercise {
	return Exercise{
		Name:  "cancelled-unlock",
		Title: say("The unlock of a request that is over", "请求已取消，锁还没还"),
		Story: say(
			"The sale runs under the context of its request, and so does its unlock. A buyer closes the browser: the context is cancelled, "+
				"and the client refuses to send the release. Everybody waits until the lock expires.",
			"卖货用的是请求的 context，解锁也是。买家关掉了浏览器：context 被取消，客户端拒绝发送解锁命令。"+
				"所有人只能等锁过期。"),
		Claim: say("When a client goes away, the lock is given back at once.", "客户端离开时，锁立即归还。"),
		Hints: hints(
			say("Which context does the release run under? When does that one end?", "解锁用的是哪个 context？它什么时候结束？"),
			say("A lease calls its unlock with a context of its own, which no client can cancel. Look at what NewLease is given.",
				"租约调用解锁函数时，会传入一个不受客户端影响的 context。看看传给 NewLease 的是什么。"),
			say("The function given to lock.NewLease ignores its parameter, and takes the ctx of TryLock instead. Use the parameter.",
				"传给 lock.NewLease 的函数忽略了自己的参数，用的是 TryLock 的 ctx。改用参数。")),
		Looks: []Look{
			calm(),
			with(explore.Faults{Cancel: 1}, usual()...),
		},
		Reason: explore.Idle,
	}
}
