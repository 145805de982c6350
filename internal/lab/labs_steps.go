package lab

import (
	"time"

	"lockstep/internal/fault"
	"lockstep/internal/language"
	"lockstep/internal/witness"
)

// steps returns the labs of the first steps: each step cures the flaw that the step before it shows.
func steps() []Lab {
	both := language.Both
	return []Lab{{
		Name: "lost-update", Shows: "v0", Cured: "v1",
		Title:    both("Two sales read the same stock: one update is lost", "两单读到同一个库存：一次扣减丢失"),
		Claim:    both("what a sale has written, no other sale overwrites unread", "一单写入的内容，不会被没有读过它的另一单覆盖"),
		Cure:     both("a lock: while a sale holds it, no other sale reads the stock", "加锁：一单持有锁时，别的单不读库存"),
		Explore:  "--anomaly lost-update",
		Shop:     Settings{Replicas: 1, TTL: 10 * time.Second, Think: each(time.Second, "r1")},
		Scenario: whileHeld("r1"),
		Fault:    both("the second sale asks while the first is at work, and both write", "第一单执行期间，第二单来加锁，两单都写入"),
		Hit:      all(requestedInTime("r1#2"), answered("r1#1"), answered("r1#2")),
		Signs:    []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			expectBroken(LockNames{"v0"},
				"nothing keeps the second sale from reading what the first has not yet replaced", "第一单还没写回，第二单就读了库存，没有任何机制阻止"),
			expectBroken(LockNames{"set-expire", "setex"}, "without NX everybody gets the lock", "没有 NX，谁都能加锁成功"),
			expectHolds(StepsFrom(1).with("redlock", "setnx-expire", "lua-setnx", "getset"),
				"the second sale waits until the first has written", "第二单等到第一单写入之后"),
			expectHolds(LockNames{"local"}, "both sales are in one process, so its queue is enough", "两单在同一个进程里，进程内队列就够了"),
			expectHolds(LockNames{"atomic", "non-idempotent"}, "one script reads and writes", "一个脚本完成读和写"),
			expectHolds(LockNames{"optimistic"}, "the second write is refused, and its sale reads again", "第二次写入被拒绝，这一单重新读"),
			expectHolds(LockNames{"segmented"}, "the second sale waits, or is in another segment", "第二单等待，或者在另一段里卖"),
			notApplicable(LockNames{"late-commit"}, "see commit-after-unlock", "见 commit-after-unlock"),
		},
	}, {
		Name: "lost-update-replicas", Shows: "local", Cured: "v1",
		Title: both("A queue in each process: two processes still collide", "每个进程各排各的队：两个进程照样冲突"),
		Claim: both("what a sale has written, no sale of another process overwrites unread", "一单写入的内容，不会被另一个进程中没有读过它的一单覆盖"),
		Cure: both("a lock in Redis, which all processes ask; a queue in one process knows nothing of the others",
			"锁放在所有进程都访问的 Redis 里；进程内的队列管不到别的进程"),
		Explore:  "--anomaly lost-update",
		Shop:     Settings{TTL: 10 * time.Second, Think: each(time.Second, "r1", "r2")},
		Scenario: whileHeld("r2"),
		Fault:    both("the second sale asks while the first is at work, and both write", "第一单执行期间，第二单来加锁，两单都写入"),
		Hit:      all(requestedInTime("r2#1"), answered("r1#1"), answered("r2#1")),
		Signs:    []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			expectBroken(LockNames{"local"}, "each process has a queue of its own", "每个进程各有一个队列"),
			expectBroken(LockNames{"v0"}, "there is no lock", "没有锁"),
			expectBroken(LockNames{"set-expire", "setex"}, "without NX everybody gets the lock", "没有 NX，谁都能加锁成功"),
			expectHolds(StepsFrom(1).with("redlock", "setnx-expire", "lua-setnx", "getset"),
				"the second sale waits until the first has written", "第二单等到第一单写入之后"),
			expectHolds(LockNames{"atomic", "non-idempotent"}, "one script reads and writes", "一个脚本完成读和写"),
			expectHolds(LockNames{"optimistic"}, "the second write is refused, and its sale reads again", "第二次写入被拒绝，这一单重新读"),
			expectHolds(LockNames{"segmented"}, "the second sale waits, or is in another segment", "第二单等待，或者在另一段里卖"),
			notApplicable(LockNames{"late-commit"}, "see commit-after-unlock", "见 commit-after-unlock"),
		},
	}, {
		Name: "holder-dies", Shows: "v1", Cured: "v2",
		Title:   both("The holder dies: everybody waits", "持有者崩溃：所有人一直等"),
		Claim:   both("a holder that dies does not block the others forever", "持有者崩溃后，别人不会永远等下去"),
		Cure:    both("an expiry in the same command: SET … EX … NX", "在同一条命令里设置过期时间：SET … EX … NX"),
		Explore: "--faults crash=1 --anomaly left-behind",
		Shop:    Settings{TTL: time.Second, Wait: 5 * time.Second, Think: each(time.Minute, "r1")},
		Scenario: func(s *Stage) {
			s.Hold("r1")
			s.Kill("r1")
			s.Finish(s.Buy("r2"))
		},
		Fault: both("r1 dies while its sale holds the lock", "r1 的一单持有锁时，r1 崩溃"),
		Hit:   diedWithLock("r1"),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain},
		Expected: []Expectation{
			expectBroken(LockNames{"v1"}, "nobody removes the dead holder's lock", "没有人删除崩溃的持有者的锁"),
			expectHolds(StepsFrom(2).with("redlock", "late-commit", "setnx-expire", "lua-setnx"),
				"the lock expires; then the other gets it", "锁过期后，另一单就能加锁成功"),
			expectHolds(LockNames{"getset"}, "the other finds the expiry in the past, and takes the lock over", "另一单发现锁已过期，于是接管"),
			notApplicable(nonExcluding(), "the dead holder leaves nothing that the other would wait for", "崩溃的持有者没有留下什么，另一单不用等待"),
		},
	}, {
		Name: "dies-between-set-and-expire", Shows: "setnx-expire", Cured: "lua-setnx",
		Title:   both("A crash between SETNX and EXPIRE: the lock never expires", "SETNX 之后、EXPIRE 之前崩溃：锁永不过期"),
		Claim:   both("a process that dies while it takes the lock leaves nothing that stays", "加锁途中崩溃的进程不会留下永久的锁"),
		Cure:    both("both commands in one script; or SET … NX EX, as v2 does", "两条命令放进一个脚本；或者像 v2 那样用 SET … NX EX"),
		Explore: "--faults crash=1 --anomaly left-behind",
		Shop:    Settings{TTL: time.Second, Wait: 5 * time.Second, Think: each(time.Minute, "r1")},
		Scenario: func(s *Stage) {
			trap := s.Catch("r1", 0, fault.Hold, fault.IsExpiry)
			s.Buy("r1")
			s.AwaitCaught(trap, obtained("r1#1"))
			s.Await(stepOf("r1#1", "take the lock", "加锁成功"), either(sentCommand("r1#1", witness.Takes, witness.Done), obtained("r1#1")))
			s.Kill("r1")
			trap.Drop()
			s.Finish(s.Buy("r2"))
		},
		Fault: both("r1 dies while it takes the lock, or right after", "r1 在加锁途中或刚加锁后崩溃"),
		Hit:   diedWithLock("r1"),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain},
		Expected: []Expectation{
			expectBroken(LockNames{"setnx-expire"}, "the lock is there, and its expiry is not yet", "锁已经有了，过期时间还没有"),
			expectBroken(LockNames{"v1"}, "its lock never has an expiry", "它的锁没有过期时间"),
			expectHolds(StepsFrom(2).with("lua-setnx", "redlock", "late-commit"), "there is no moment between the two", "两者之间没有空隙"),
			expectHolds(LockNames{"getset"}, "the value itself is the expiry", "值本身就是过期时刻"),
			notApplicable(nonExcluding(), "the dead holder leaves nothing that the other would wait for", "崩溃的持有者没有留下什么，另一单不用等待"),
		},
	}, {
		Name: "foreign-delete", Shows: "v2", Cured: "v3",
		Title:    both("The overdue holder deletes the next one's lock", "锁已过期，持有者执行完却删掉了别人的锁"),
		Claim:    both("nobody removes a lock that is another's", "谁也不会删除别人的锁"),
		Cure:     both("the value is the owner: look whose the lock is before deleting it", "值是持有者标识：删除之前先看锁是谁的"),
		Explore:  "--faults expiry=1 --anomaly foreign-release",
		Shop:     Settings{TTL: 2 * time.Second, Think: each(3*time.Second, "r1", "r2")},
		Scenario: whileHeld("r2"),
		Fault:    both("the second sale asks while the first is at work", "第一单执行期间，第二单来加锁"),
		Hit:      requestedInTime("r2#1"),
		Proof:    sold("r2#1"),
		Signs:    []witness.FindingKind{witness.RemovedLock},
		Expected: []Expectation{
			expectBroken(LockNames{"v2", "lua-setnx", "setnx-expire"}, "DEL deletes the lock, whosever it is by now", "DEL 直接删除锁，不管这时锁是谁的"),
			expectBroken(LockNames{"getset"}, "no owner, so the first deletes what the second took over", "没有持有者标识，所以第一单删除了第二单接管的锁"),
			expectHolds(LockNames{"v1"}, "its lock never expires: it is still its own", "它的锁永不过期，这时仍是自己的"),
			expectHolds(Steps(3, 5), "the first finds that the lock is another's, and leaves it alone", "第一单发现锁是别人的，就不动它"),
			expectHolds(LockNames{"late-commit"}, "v4's lock", "用的是 v4 的锁"),
			expectHolds(StepsFrom(6).with("redlock"), "the first renews its lock, so the second waits", "第一单给锁续期，所以第二单等待"),
			notInRedis(),
			notApplicable(LockNames{"set-expire", "setex"}, "everybody gets the lock at any time", "任何时候谁都能加锁成功"),
		},
	}, {
		Name: "check-then-delete", Shows: "v3", Cured: "v4",
		Title:   both("Between GET and DEL the lock changes hands", "GET 和 DEL 之间，锁已易主"),
		Claim:   both("a release that arrives late does not remove another's lock", "迟到的解锁不会删除别人的锁"),
		Cure:    both("compare and delete in one script: nothing can come between", "用一个脚本完成比较和删除，中间插不进别的命令"),
		Explore: "--faults expiry=1 --anomaly foreign-release",
		Shop:    Settings{TTL: time.Second, Think: each(500*time.Millisecond, "r2")},
		Scenario: func(s *Stage) {
			first, trap := s.BuyCaught("r1", fault.Hold, fault.IsRelease)
			second := s.Hold("r2")
			s.Release(trap)
			s.AwaitReply(trap)
			s.Finish(first, second)
		},
		Fault: both("the release is held until another has the lock", "解锁命令被扣留，直到别人加锁成功"),
		Hit:   releasedInCriticalSection("r2#1"),
		Signs: []witness.FindingKind{witness.RemovedLock},
		Expected: []Expectation{
			expectBroken(LockNames{"v3"},
				"its GET said that the lock was its own; when the DEL arrives, it is another's", "GET 时锁还是自己的；DEL 到达时已经是别人的"),
			expectBroken(LockNames{"v2", "lua-setnx", "setnx-expire"}, "the DEL does not ask whose the lock is", "DEL 不管锁是谁的"),
			expectHolds(Steps(4, 10).with("late-commit"), "Redis compares when the release arrives", "解锁命令到达 Redis 时才比较"),
			notApplicable(LockNames{"v1"}, "its lock never expires, so it never changes hands before the DEL", "它的锁永不过期，所以 DEL 之前不会易主"),
			notApplicable(LockNames{"v11"}, "a sale sends no release when nobody waits", "没有人等待时，一单不发解锁命令"),
			notBehindProxy(),
			notApplicable(LockNames{"getset"}, "its lock changes hands by the client's clock", "它的锁按客户端的时钟易主"),
			nobodyHolds(),
		},
	}, {
		Name: "self-deadlock", Shows: "v4", Cured: "v5",
		Title:         both("A nested call waits for its own caller", "嵌套调用在等自己的外层调用"),
		Claim:         both("a nested call gets the lock that its caller holds", "嵌套调用可以获取外层调用已持有的锁"),
		Cure:          both("a hash of owner and count: whoever holds the lock may take it once more", "用哈希记录持有者和次数：锁的持有者可以再次加锁"),
		Explore:       "--nested 1",
		ExploreByLock: map[string]string{"delex": "--nested 1"},
		Shop:          Settings{Replicas: 1, Wait: time.Second, Nested: 1},
		Scenario:      func(s *Stage) { s.Finish(s.Buy("r1")) },
		Fault:         both("a sale makes a nested call", "一单发起嵌套调用"),
		Hit:           atLeast(2, "r1#1", witness.KindAsks),
		Proof:         sold("r1#1"),
		Signs:         []witness.FindingKind{witness.WaitsForItself},
		Expected: []Expectation{
			expectBroken(LockNames{"v1"},
				"the nested call waits for its own caller, for good: the lock never expires", "嵌套调用等的是自己的外层调用，永远等不到：锁永不过期"),
			expectBroken(Steps(2, 4).with("late-commit", "setnx-expire", "lua-setnx", "getset"),
				"the nested call waits for its own caller: a self-deadlock until the expiry", "嵌套调用等的是自己的外层调用：自死锁，直到锁过期"),
			expectBroken(LockNames{"local"}, "the nested call stands in the queue behind its own caller", "嵌套调用在队列里排在自己的外层调用后面"),
			expectHolds(Steps(5, 8), "the nested call has the same owner, and is counted", "嵌套调用的持有者标识相同，只增加次数"),
			expectHolds(StepsFrom(9).with("redlock"), "the process knows that the owner has the lock", "进程知道这个持有者已经持有锁"),
			expectHolds(LockNames{"v0", "atomic", "optimistic", "non-idempotent", "set-expire", "setex"}, "nobody ever waits", "谁都不需要等待"),
		},
	}, {
		Name: "overdue-work", Shows: "v5", Cured: "v6",
		Title: both("The work outlasts the lock: two are inside", "业务没做完锁就过期：两单同时在临界区里"),
		Claim: both("whoever works for longer than the expiry keeps its lock", "业务执行得比过期时间长，锁仍然是自己的"),
		Cure: both("renewal: a goroutine sets the expiry again every third of it, as long as the work goes on",
			"续期：只要业务还在执行，就有一个 goroutine 每隔三分之一过期时间重设一次过期时间"),
		Explore:  "--faults expiry=1 --anomaly two-holders",
		Shop:     Settings{TTL: 2 * time.Second, Think: map[string]time.Duration{"r1": 5 * time.Second, "r2": time.Second}},
		Scenario: whileHeld("r2"),
		Fault:    both("the second sale asks while the first is at work", "第一单执行期间，第二单来加锁"),
		Hit:      requestedInTime("r2#1"),
		Proof:    all(sold("r1#1"), blockedFor(2*time.Second, "r2#1")),
		Signs:    []witness.FindingKind{witness.Overlapped, witness.LearnedOfLoss},
		Expected: []Expectation{
			expectBroken(Steps(2, 5).with("late-commit", "setnx-expire", "lua-setnx", "getset"),
				"the lock expires after 2s, and the work takes 5s", "锁 2 秒后过期，业务要执行 5 秒"),
			expectBroken(LockNames{"set-expire", "setex"}, "everybody gets the lock at any time", "任何时候谁都能加锁成功"),
			expectBroken(LockNames{"local"}, "the other process has a queue of its own", "另一个进程有自己的队列"),
			expectHolds(LockNames{"v1"}, "its lock never expires", "它的锁永不过期"),
			expectHolds(StepsFrom(6).with("redlock"), "the holder renews its lock", "持有者给锁续期"),
			notApplicable(LockNames{"v0", "atomic", "optimistic", "non-idempotent"}, "there is no lock", "没有锁"),
		},
	}}
}

// whileHeld returns a scenario in which a buyer asks a replica while a sale of r1 holds the lock.
func whileHeld(replica string) func(*Stage) {
	return func(s *Stage) {
		first := s.Hold("r1")
		s.Finish(first, s.Buy(replica))
	}
}
