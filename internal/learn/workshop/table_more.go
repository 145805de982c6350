package workshop

import (
	"time"

	"lockstep/internal/explore"
)

// The exercises about waiting, tokens, several masters, and the order of commands.

func missedWakeup() Exercise {
	return Exercise{
		Name:  "missed-wakeup",
		Title: say("A hint awaited after looking", "看过之后才等通知"),
		Story: say(
			"Polling costs too much, so a release tells the waiters by a message. A waiter looks whether the lock is held, begins to listen, "+
				"and waits. "+
				"The message was sent between the look and the listening. Nobody sends it again.",
			"轮询代价太高，于是解锁时发消息通知等待者。等待者先看锁是否被持有，再开始监听，然后等待。"+
				"消息恰好在看完之后、监听之前发出，不会再有第二次。"),
		Claim: say("Whenever the lock is given back, everybody who waits gets it in the end.", "无论锁何时归还，每个等待者最终都能拿到它。"),
		Hints: hints(
			say("Find the message in the schedule. Was the waiter listening at that moment?", "在时序里找到那条消息。当时等待者在监听吗？"),
			say("A message that comes while nobody listens is gone. Begin to listen before you look.", "没人监听时发出的消息就没了。先监听，再查看。"),
			say("Call listen at the start of Lock, before the first TryLock. The channel holds one token, so a message that comes in between is "+
				"not lost.",
				"在 Lock 开头、第一次 TryLock 之前调用 listen。channel 能存一个令牌，中间到来的消息不会丢。")),
		Looks: []Look{
			calm(),
			{explore.Scenario{Actors: 3}, []explore.Anomaly{explore.Stuck, explore.TwoHolders, explore.GoroutineLeak, explore.Idle}},
		},
		Reason: explore.Stuck,
	}
}

func fence() Exercise {
	return Exercise{
		Name:  "fence",
		Title: say("A fence compared wrongly", "令牌比错了"),
		Story: say(
			"Each holder gets a token larger than all before it, and the token is the value of the lock. Unlock deletes the lock if the tokens "+
				"fit. "+
				"They also fit when the lock has a larger one: then it is the next holder's.",
			"每个持有者都得到一个比以往都大的令牌，令牌就是锁的值。令牌符合时，解锁才删除锁。"+
				"可是锁里的令牌更大时也算符合：那时锁已是下一个持有者的了。"),
		Claim: say("Only the token that the lock has can open it, and a late write of an old holder is refused.",
			"只有与锁里相等的令牌才能解锁；旧持有者迟到的写入会被拒绝。"),
		Hints: hints(
			say("Which token was in Redis, and which one did the unlock bring? Look at the arguments in the diagram.",
				"Redis 里是几号令牌，解锁带来的是几号？看图中的参数。"),
			say("A store refuses smaller tokens than it has seen: there, larger is newer and good. A lock is opened by its own token alone.",
				"存储拒绝小于已见过最大值的令牌：对它来说，越大越新，是好事。锁只能由自己的令牌打开。"),
			say("Compare for equality. In Lua a string is never equal to a number: tonumber on both sides, or on neither.",
				"要比较是否相等。Lua 里字符串永远不等于数字：两边都用 tonumber，或者都不用。")),
		Looks: []Look{
			calm(),
			with(explore.Faults{Expiry: 1}, explore.ForeignRelease, explore.FalseWord, explore.TokenOrder, explore.LostUpdate),
			with(explore.Faults{Pause: 1}, explore.ForeignRelease, explore.LostUpdate, explore.Stuck),
		},
		Reason: explore.ForeignRelease,
	}
}

func majority() Exercise {
	once := func(faults explore.Faults, anomalies ...explore.Anomaly) Look {
		return Look{explore.Scenario{Actors: 2, Try: 2, Nodes: 3, Faults: faults}, anomalies}
	}
	return Exercise{
		Name:  "majority",
		Title: say("A majority miscounted", "多数派数错了"),
		Story: say(
			"One Redis can fail, so the lock is on three that know nothing of each other. A sale holds the lock if the majority agrees. "+
				"Half of three, says Go, is 1.",
			"一台 Redis 可能出故障，所以锁放在三台互不相识的 Redis 上。多数节点同意，才算持有锁。"+
				"三的一半，Go 说是 1。"),
		Claim: say("Two sales never hold the lock at the same time, also if one of the three nodes is down.", "任何时候都不会有两单同时持有锁，三个节点中有一个宕机时也一样。"),
		Hints: hints(
			say("How many nodes does each of the two holders have? Is there one that both asked?", "两个持有者各占几个节点？有没有两者都占的节点？"),
			say("Any two majorities have a node in common, and that node can serve only one. For which numbers is that so?",
				"任意两个多数派必有一个公共节点，而它只会答应一方。哪些数满足这一点？"),
			say("More than half: len(l.nodes)/2 + 1.", "要多于一半：len(l.nodes)/2 + 1。")),
		Looks: []Look{
			once(explore.Faults{}, explore.TwoHolders, explore.LostUpdate, explore.ForeignRelease, explore.LeftBehind, explore.Stuck),
			once(explore.Faults{NodeCrash: 1}, explore.TwoHolders, explore.LostUpdate),
		},
		Reason:  explore.TwoHolders,
		onNodes: true,
	}
}

func tokenOutside() Exercise {
	return Exercise{
		Name:  "token-outside",
		Title: say("A token taken outside", "在锁外面取令牌"),
		Story: say(
			"The stock refuses writes with a smaller token than it has seen. The token is a counter in Redis, read before the lock is taken. "+
				"Who draws number 1 and dawdles may get the lock after number 2, and then every write of it is refused.",
			"库存拒绝令牌小于已见过最大值的写入。令牌是 Redis 里的计数器，在加锁之前读取。"+
				"拿了 1 号却慢吞吞的一单，可能在 2 号之后才拿到锁，于是它的写入全被拒绝。"),
		Claim: say("Who gets the lock later has the larger token.", "后拿到锁的，令牌一定更大。"),
		Hints: hints(
			say("In which order were the tokens drawn, and in which order was the lock obtained?", "令牌按什么顺序发出，锁又按什么顺序拿到？"),
			say("After the lock is no better: it can expire before the token is drawn. Both have to be one step.",
				"加锁之后再取也不行：取令牌之前锁可能已经过期。两者必须是一步。"),
			say("One script: if the lock exists, return 0; SET it with its expiry; return INCR of the fence, KEYS[2].",
				"一段脚本：锁存在则返回 0；否则 SET 并带上过期时间；最后返回 KEYS[2]（fence）的 INCR。")),
		Looks: []Look{
			calm(),
			with(explore.Faults{Expiry: 1}, explore.TokenOrder, explore.LostUpdate, explore.ForeignRelease),
			{explore.Scenario{Actors: 2, Skew: 15 * time.Second}, []explore.Anomaly{explore.TokenOrder, explore.Progress}},
		},
		Reason: explore.TokenOrder,
	}
}

func lateCommit() Exercise {
	return Exercise{
		Name:  "late-commit",
		Title: say("A late commit", "迟到的提交"),
		Story: say(
			"A method is @Transactional and locks inside. It reads the stock under the lock, unlocks, and returns; then the framework commits. "+
				"Here "+
				"Update is strategy.LateCommit. The lock is right, nothing fails, and updates are lost.",
			"一个方法标注了 @Transactional，锁加在方法里面。它在锁内读库存，解锁，返回；然后框架才提交事务。"+
				"这里的 Update 是 strategy.LateCommit。锁没有错，没有任何报错，更新却丢了。"),
		Claim: say("No sale writes over the update of another one, and none fails for it.", "任何一单都不会覆盖别人的更新，也不会因此失败。"),
		Hints: hints(
			say("Look where each sale's write stands in the schedule, and where its unlock.", "看每一单的写入在哪一步，解锁在哪一步。"),
			say("What the lock protects is from the read to the write. The flaw is not in the lock: no other lock cures it.",
				"锁要保护的是从读到写的全过程。毛病不在锁里：换什么锁都没用。"),
			say("Take the lock around the transaction, not inside it: Update: strategy.ReadModifyWrite. (Or let the write itself check: "+
				"CheckAndSet, Atomic.)",
				"锁要包住事务，而不是放在事务里面：Update: strategy.ReadModifyWrite。（也可以让写入自己检查：CheckAndSet、Atomic。）")),
		Looks: []Look{
			calm(),
			{explore.Scenario{Actors: 3}, []explore.Anomaly{explore.TwoHolders, explore.LostUpdate, explore.Progress}},
		},
		Reason:    explore.LostUpdate,
		anyUpdate: true,
	}
}

func getThenSet() Exercise {
	return Exercise{
		Name:  "get-then-set",
		Title: say("GET, then SET", "先 GET 后 SET"),
		Story: say(
			"The lock is there against lost updates: GET the stock, SET the stock, and somebody comes between. It is itself taken by GET and SET. "+
				"Two sales look, both see a free lock, both write their name into it.",
			"锁本来是为了防止更新丢失：GET 库存，SET 库存，中间夹进了别人。可这把锁自己就是用 GET 和 SET 拿的。"+
				"两单都看了一眼，都发现锁空着，都把自己的名字写了进去。"),
		Claim: say("Only one of those who find the lock free gets it.", "发现锁空闲的人当中，只有一个能拿到它。"),
		Hints: hints(
			say("Which command of the other sale came between the look and the taking?", "查看和加锁之间，夹进了另一单的哪条命令？"),
			say("Redis has a command that looks and writes at once.", "Redis 有一条命令，能一步完成查看和写入。"),
			say("SET with NX and an expiry: client.SetArgs with Mode \"NX\" and TTL. redis.Nil means that another has it.",
				"带 NX 和过期时间的 SET：用 client.SetArgs，Mode 为 \"NX\"，并设 TTL。返回 redis.Nil 表示锁在别人手里。")),
		Looks: []Look{
			calm(),
			with(explore.Faults{Crash: 1}, explore.TwoHolders, explore.Stuck, explore.LeftBehind),
			{explore.Scenario{Actors: 3}, []explore.Anomaly{explore.TwoHolders, explore.LostUpdate}},
		},
		Reason: explore.TwoHolders,
	}
}
