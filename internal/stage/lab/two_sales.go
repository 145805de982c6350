package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/watch/witness"
)

// lostUpdate makes two sales of one process at the same time.
func lostUpdate() Lab {
	return Lab{
		Name:  "lost-update",
		Claim: language.Both("what a sale has written, no other sale overwrites unread", "一单写入的内容，不会被没有读过它的另一单覆盖"),
		Shows: "v0", Cured: "v1",
		Cure:     language.Both("a lock: while a sale holds it, no other sale reads the stock", "加锁：一单持有锁时，别的单不读库存"),
		Explore:  "--anomaly lost-update",
		Shop:     Settings{Replicas: 1, TTL: 10 * time.Second, Think: each(time.Second, "r1")},
		Scenario: whileHeld("r1"),
		Fault:    language.Both("the second sale asks while the first is at work, and both write", "第一单执行期间，第二单来加锁，两单都写入"),
		Hit:      all(askedInTime("r1#2"), answered("r1#1"), answered("r1#2")),
		Signs:    []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			broken("v0", "nothing keeps the second sale from reading what the first has not yet replaced", "没有什么阻止第二单读到第一单还没有改写的库存"),
			broken("set-expire setex", "without NX everybody gets the lock", "没有 NX，谁都能加锁成功"),
			holds("v1.. redlock setnx-expire lua-setnx getset", "the second sale waits until the first has written", "第二单等到第一单写入之后"),
			holds("local", "both sales are in one process, so its queue is enough", "两单在同一个进程里，进程内队列就够了"),
			holds("atomic", "one script reads and writes", "一个脚本完成读和写"),
			holds("optimistic", "the second write is refused, and its sale reads again", "第二次写入被拒绝，这一单重新读"),
			without("late-commit", "see commit-after-unlock", "见 commit-after-unlock"),
		},
	}
}

// lostUpdateReplicas does the same in two processes.
func lostUpdateReplicas() Lab {
	return Lab{
		Name:  "lost-update-replicas",
		Claim: language.Both("what a sale has written, no sale of another process overwrites unread", "一单写入的内容，不会被另一个进程中没有读过它的一单覆盖"),
		Shows: "local", Cured: "v1",
		Cure: language.Both("a lock in Redis, which all processes ask; a queue in one process knows nothing of the others",
			"锁放在所有进程都访问的 Redis 里；进程内的队列不知道别的进程"),
		Explore:  "--anomaly lost-update",
		Shop:     Settings{TTL: 10 * time.Second, Think: each(time.Second, "r1", "r2")},
		Scenario: whileHeld("r2"),
		Fault:    language.Both("the second sale asks while the first is at work, and both write", "第一单执行期间，第二单来加锁，两单都写入"),
		Hit:      all(askedInTime("r2#1"), answered("r1#1"), answered("r2#1")),
		Signs:    []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			broken("local", "each process has a queue of its own", "每个进程各有一个队列"),
			broken("v0", "there is no lock", "没有锁"),
			broken("set-expire setex", "without NX everybody gets the lock", "没有 NX，谁都能加锁成功"),
			holds("v1.. redlock setnx-expire lua-setnx getset", "the second sale waits until the first has written", "第二单等到第一单写入之后"),
			holds("atomic", "one script reads and writes", "一个脚本完成读和写"),
			holds("optimistic", "the second write is refused, and its sale reads again", "第二次写入被拒绝，这一单重新读"),
			without("late-commit", "see commit-after-unlock", "见 commit-after-unlock"),
		},
	}
}

// foreignDelete lets a holder work for longer than its lock lasts, and then delete the next one's.
func foreignDelete() Lab {
	return Lab{
		Name:  "foreign-delete",
		Claim: language.Both("nobody removes a lock that is another's", "谁也不会删除别人的锁"),
		Shows: "v2", Cured: "v3",
		Cure:     language.Both("the value is the owner: look whose the lock is before deleting it", "值是持有者标识：删除之前先看锁是谁的"),
		Explore:  "--faults expiry=1 --anomaly foreign-release",
		Shop:     Settings{TTL: 2 * time.Second, Think: each(3*time.Second, "r1", "r2")},
		Scenario: whileHeld("r2"),
		Fault:    language.Both("the second sale asks while the first is at work", "第一单执行期间，第二单来加锁"),
		Hit:      askedInTime("r2#1"),
		Proof:    sold("r2#1"),
		Signs:    []witness.FindingKind{witness.Removed},
		Expected: []Expectation{
			broken("v2 lua-setnx setnx-expire", "DEL deletes the lock, whosever it is by now", "DEL 直接删除锁，不管这时锁是谁的"),
			broken("getset", "no owner, so the first deletes what the second took over", "没有持有者标识，所以第一单删除了第二单接管的锁"),
			holds("v1", "a lock that never expires is never another's", "永不过期的锁不会变成别人的"),
			holds("v3..v5", "the first finds that the lock is another's, and leaves it alone", "第一单发现锁是别人的，就不动它"),
			holds("late-commit", "v4's lock", "用的是 v4 的锁"),
			holds("v6.. redlock", "the first renews its lock, so the second waits", "第一单给锁续期，所以第二单等待"),
			notInRedis(),
			without("set-expire setex", "everybody gets the lock at any time", "任何时候谁都能加锁成功"),
		},
	}
}

// overdueWork gives a sale work that takes longer than the lock lasts.
func overdueWork() Lab {
	return Lab{
		Name:  "overdue-work",
		Claim: language.Both("whoever works for longer than the expiry keeps its lock", "业务执行得比过期时间长，锁仍然是自己的"),
		Shows: "v5", Cured: "v6",
		Cure: language.Both("renewal: a goroutine sets the expiry again every third of it, as long as the work goes on",
			"续期：只要业务还在执行，就有一个 goroutine 每隔三分之一过期时间重设一次过期时间"),
		Explore:  "--faults expiry=1 --anomaly two-holders",
		Shop:     Settings{TTL: 2 * time.Second, Wait: 10 * time.Second, Think: map[string]time.Duration{"r1": 5 * time.Second, "r2": time.Second}},
		Scenario: whileHeld("r2"),
		Fault:    language.Both("the second sale asks while the first is at work", "第一单执行期间，第二单来加锁"),
		Hit:      askedInTime("r2#1"),
		Proof:    all(sold("r1#1"), keptOutFor(2*time.Second, "r2#1")),
		Signs:    []witness.FindingKind{witness.Together, witness.Told},
		Expected: []Expectation{
			broken("v2..v5 late-commit setnx-expire lua-setnx getset", "the lock expires after 2s, and the work takes 5s", "锁 2 秒后过期，业务要执行 5 秒"),
			broken("set-expire setex", "everybody gets the lock at any time", "任何时候谁都能加锁成功"),
			broken("local", "the other process has a queue of its own", "另一个进程有自己的队列"),
			holds("v1", "its lock never expires", "它的锁永不过期"),
			holds("v6.. redlock", "the holder renews its lock", "持有者给锁续期"),
			without("v0 atomic optimistic", "there is no lock", "没有锁"),
		},
	}
}

// clockSkew puts the clock of a replica ahead.
func clockSkew() Lab {
	return Lab{
		Name:  "clock-skew",
		Claim: language.Both("a wrong clock does not give the lock to two", "时钟不准也不会让两单同时持有锁"),
		Shows: "getset", Cured: "v2",
		Cure:     language.Both("let Redis count the time: SET … EX", "让 Redis 计时：SET … EX"),
		Explore:  "--skew 15s --anomaly two-holders",
		Shop:     Settings{Think: each(time.Second, "r1", "r2"), Ahead: each(time.Hour, "r2")},
		Scenario: whileHeld("r2"),
		Fault:    language.Both("the second sale, an hour ahead, asks while the first is at work", "第一单执行期间，时钟快一小时的第二单来加锁"),
		Hit:      askedInTime("r2#1"),
		Proof:    sold("r2#1"),
		Signs:    []witness.FindingKind{witness.Together},
		Expected: []Expectation{
			broken("getset", "by the clock of r2 the lock has expired long ago", "按 r2 的时钟，锁早已过期"),
			holds("v1.. redlock late-commit setnx-expire lua-setnx", "only durations are measured by the own clock", "自己的时钟只用来测量时长"),
			keepsNobodyOut(),
		},
	}
}

// pollingStorm lets a sale wait for the lock while another process holds it.
func pollingStorm() Lab {
	return Lab{
		Name:  "polling-storm",
		Claim: language.Both("a sale that waits does not ask Redis again and again", "等待的一单不会反复询问 Redis"),
		Shows: "v8", Cured: "v9",
		Cure: language.Both("a queue of processes in Redis: whoever releases hands the lock to the first, and tells it by a message",
			"Redis 里的进程队列：释放者把锁移交给队首，并发消息通知它"),
		Shop:     Settings{TTL: 10 * time.Second, Think: each(2*time.Second, "r1")},
		Scenario: whileHeld("r2"),
		Fault:    language.Both("the second sale asks while the first is at work, and both write", "第一单执行期间，第二单来加锁，两单都写入"),
		Hit:      all(askedInTime("r2#1"), answered("r1#1"), answered("r2#1")),
		Signs:    []witness.FindingKind{witness.Polled},
		Expected: []Expectation{
			broken("v1..v8 setnx-expire lua-setnx getset late-commit", "it asks every 20ms", "它每 20 毫秒询问一次"),
			holds("v9..", "it asks for a place in the queue, and is told when it is its turn", "它在队列里占一个位置，轮到时会收到通知"),
			broken("redlock", "it asks all nodes again every 10 to 20ms", "它每 10 到 20 毫秒再次询问所有节点"),
			nobodyWaits(),
		},
	}
}

// selfDeadlock makes a nested call that takes the lock its caller has.
func selfDeadlock() Lab {
	return Lab{
		Name:  "self-deadlock",
		Claim: language.Both("a nested call gets the lock that its caller holds", "嵌套调用可以得到外层调用已持有的锁"),
		Shows: "v4", Cured: "v5",
		Cure:     language.Both("a hash of owner and count: whoever holds the lock may take it once more", "用哈希记录持有者和次数：锁的持有者可以再次加锁"),
		Explore:  "--nested 1",
		Shop:     Settings{Replicas: 1, Wait: time.Second, Nested: 1},
		Scenario: func(s *Stage) { s.Finish(s.Buy("r1")) },
		Fault:    language.Both("a sale makes a nested call", "一单发起嵌套调用"),
		Hit:      atLeast(2, "r1#1", witness.KindAsks),
		Proof:    sold("r1#1"),
		Signs:    []witness.FindingKind{witness.WaitsForItself},
		Expected: []Expectation{
			broken("v1..v4 late-commit setnx-expire lua-setnx getset", "the nested call finds the lock held, and waits: for its own caller",
				"嵌套调用发现锁被占用，于是等待：等的是自己的外层调用"),
			broken("local", "the nested call stands in the queue behind its own caller", "嵌套调用在队列里排在自己的外层调用后面"),
			holds("v5..v7", "the nested call has the same owner, and is counted", "嵌套调用的持有者标识相同，只增加次数"),
			holds("v8.. redlock", "the process knows that the owner has the lock", "进程知道这个持有者已有锁"),
			holds("v0 atomic optimistic set-expire setex", "nobody ever waits", "谁都不需要等待"),
		},
	}
}

// keptOutFor reports whether a sale that had asked neither obtained the lock nor gave up for so long after the first sale had obtained it.
func keptOutFor(d time.Duration, sale string) Condition {
	first := is("r1#1", witness.KindObtains)
	over := func(e witness.Event) bool { return is(sale, witness.KindObtains)(e) || is(sale, witness.KindEnds)(e) }
	return all(before(over, asks(sale)), since(first, some(over)), not(within(d, first, over)))
}

// whileHeld gives a scenario: while a sale of r1 holds the lock, a replica is asked for another one.
func whileHeld(replica string) func(*Stage) {
	return func(s *Stage) {
		first := s.Hold("r1")
		s.Finish(first, s.Buy(replica))
	}
}
