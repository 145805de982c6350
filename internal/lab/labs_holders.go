package lab

import (
	"time"

	"lockstep/internal/fault"
	"lockstep/internal/language"
	"lockstep/internal/witness"
)

// holders returns the labs in which a holder or a waiter misses a message, or receives it late.
func holders() []Lab {
	both := language.Both
	return []Lab{{
		Name: "lost-reply", Shows: "v5", Cured: "v6",
		Title: both("The reply is lost: the lock is left behind", "加锁的响应丢失：锁残留"),
		Claim: both("a lock whose reply is lost is not left behind", "加锁的响应丢失后，锁不会残留"),
		Cure: both("who does not know whether it has the lock gives it back: the owner is known, so that is safe",
			"不确定是否加锁成功时就释放：持有者标识是已知的，所以是安全的"),
		Explore: "--faults lost-reply=1",
		Shop:    Settings{Wait: 2 * time.Second},
		Scenario: func(s *Stage) {
			first, _ := s.BuyCaught("r1", fault.LoseReply, fault.IsTake)
			s.AwaitAnswers(first)
			s.Finish(s.Buy("r2"))
		},
		Fault: both("Redis takes the lock for r1, and the reply is lost", "Redis 为 r1 加锁成功，但响应丢失"),
		Hit:   occurred(witness.KindCommandLost),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain},
		Expected: []Expectation{
			expectBroken(LockNames{"v1"}, "the value does not say whose the lock is, and it never expires", "值没有说明锁是谁的，而且永不过期"),
			expectBroken(LockNames{"v2", "setnx-expire", "lua-setnx", "getset"},
				"the value does not say whose the lock is: it stays until it expires", "值没有说明锁是谁的：锁一直留到过期"),
			expectBroken(LockNames{"v5"}, "it does not give back what it may have: the lock stays until it expires", "它不释放自己可能持有的锁：锁一直留到过期"),
			expectHolds(LockNames{"v3", "v4", "late-commit"}, "it gives back what it may have: the value is the owner", "它释放自己可能持有的锁：值就是持有者标识"),
			expectHolds(StepsFrom(6), "it gives back what it may have", "它释放自己可能持有的锁"),
			notBehindProxy(),
			nothingToWaitFor(),
		},
	}, {
		Name: "renewal-outage", Shows: "v5", Cured: "v6",
		Title: both("Cut off from Redis, the holder works on", "与 Redis 失联，持有者还在执行"),
		Claim: both("a holder that Redis no longer hears stops before another gets the lock", "与 Redis 失联的持有者，在别人加锁成功之前停止执行"),
		Cure: both(
			"a holder counts from when it last asked for a renewal; one expiry later the lock is lost, and the context of the work ends",
			"持有者从上一次发出续期请求时算起；过了一个过期时间就视为锁丢失，并取消业务的 context"),
		Explore: "--work 15s --anomaly untold",
		Shop: Settings{
			TTL: 1500 * time.Millisecond, Wait: 15 * time.Second, Think: map[string]time.Duration{"r1": time.Minute, "r2": time.Second},
		},
		Scenario: func(s *Stage) {
			s.Work("r1")
			s.Cut("r1")
			s.Finish(s.Buy("r2"))
		},
		Fault:  both("r1 is cut off from Redis while its sale holds the lock, and the other sells", "r1 的一单持有锁时与 Redis 断开，另一单卖出"),
		Hit:    all(occurred(witness.KindCutOff), answered("r2#1")),
		Proof:  firstSaleLearnedOfLoss(),
		Signs:  []witness.FindingKind{witness.Overlapped},
		Blames: lastsFor(lossNoticeSlack),
		Expected: []Expectation{
			expectBroken(Steps(2, 5).with("setnx-expire", "lua-setnx", "getset", "late-commit"),
				"the holder never learns that its lock has expired", "持有者不会得知自己的锁已过期"),
			expectHolds(StepsFrom(6), "the holder knows when its lock can have expired, and stops", "持有者知道锁何时可能已过期，并停止执行"),
			neverExpires(),
			expectHolds(LockNames{"redlock"}, "the holder knows for how long a majority's word is valid, and stops", "持有者知道锁的有效时间，到时停止执行"),
			excludesNobody(),
		},
	}, {
		Name: "paused-writer", Shows: "v6", Cured: "v7", Needs: []Need{Signals},
		Title:   both("The holder is paused, wakes up and writes", "持有者暂停，恢复后照样写入"),
		Claim:   both("a holder that was stopped past the expiry of its lock writes nothing", "持有者暂停超过锁的过期时间，恢复后什么也写不进去"),
		Cure:    both("a fencing token: the store refuses a write with a smaller one than it has seen", "栅栏令牌：存储拒绝令牌小于已见过最大值的写入"),
		Explore: "--faults pause=1,expiry=1 --anomaly lost-update",
		Shop:    Settings{TTL: time.Second},
		Scenario: func(s *Stage) {
			first, trap := s.BuyCaught("r1", fault.Hold, fault.IsWrite)
			s.Pause("r1")
			s.Finish(s.Buy("r2"))
			s.Resume("r1")
			if s.noticesLoss { // The holder learns of the loss too late to call its write back.
				s.Await(toBeTold("r1#1"), either(firstSaleLearnedOfLoss(), ended("r1#1")))
			}
			s.Release(trap)
			s.Finish(first)
		},
		Fault: both("r1 is stopped while its write is on the way, the other sells, r1 goes on, and then the write arrives",
			"r1 的写入还在途中时被暂停，另一单卖出，r1 恢复运行，然后写入到达"),
		Hit: all(occurred(witness.KindStops), answered("r2#1"), answered("r1#1"),
			metAfter(ofKind("r1", witness.KindResumes), occurred(witness.KindCommandReleased))),
		Signs: []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			expectBroken(Steps(2, 5).with("setnx-expire", "lua-setnx"), "a stopped process renews nothing, and the store takes a write from anybody",
				"暂停的进程不续期，而存储接受任何人的写入"),
			expectBroken(LockNames{"v6"},
				"a stopped process renews nothing; to be told does not call back a write that has left, and the store takes it",
				"暂停的进程不续期；得知锁丢失也收不回已经发出的写入，而存储会接受它"),
			expectBroken(LockNames{"redlock"}, "it has no fencing token", "它没有栅栏令牌"),
			expectBroken(LockNames{"v0", "local", "set-expire", "setex"}, "nothing keeps the other out", "没有任何机制阻止另一单"),
			expectHolds(StepsFrom(7), "the store has seen the next holder's token, and refuses the old one", "存储见过下一个持有者的令牌，拒绝旧的"),
			expectHolds(LockNames{"atomic", "optimistic", "non-idempotent"}, "the write itself looks at the stock", "写入时会再看库存"),
			neverExpires(),
			notApplicable(LockNames{"getset"}, "its lock changes hands by the client's clock", "它的锁按客户端的时钟易主"),
			notApplicable(LockNames{"late-commit"}, "it has unlocked by then: see commit-after-unlock", "这时它已解锁：见 commit-after-unlock"),
		},
	}, {
		Name: "commit-after-unlock", Shows: "late-commit", Cured: "v4",
		Title:   both("Unlocked before the commit: an update is lost", "先解锁、后提交：一次扣减丢失"),
		Claim:   both("what was computed under the lock is written under the lock", "在锁内算出的结果，在锁内写入"),
		Cure:    both("the transaction belongs inside the lock: commit, then unlock", "事务要放在锁内：先提交，再解锁"),
		Explore: "--anomaly lost-update",
		Shop:    Settings{TTL: 10 * time.Second},
		Scenario: func(s *Stage) {
			first, trap := s.BuyCaught("r1", fault.Hold, fault.IsWrite)
			second := s.Buy("r2")
			s.Await(stepOf("r2#1", "end, or to find the lock held", "结束，或发现锁被占用"), either(ended("r2#1"), refused("r2#1")))
			s.Release(trap)
			s.Finish(first, second)
		},
		Fault: both("the write of r1 is on the way while r2 asks, and both write", "r1 的写入还在途中时 r2 来加锁，两单都写入"),
		Hit:   all(occurred(witness.KindCommandHeld), answered("r1#1"), answered("r2#1")),
		Signs: []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			expectBroken(LockNames{"late-commit"}, "it has unlocked, so the next holder reads before it has written", "它已解锁，所以下一个持有者在它写入之前就读了库存"),
			expectBroken(LockNames{"v0", "local", "set-expire", "setex"}, "nothing keeps the other out", "没有任何机制阻止另一单"),
			expectHolds(StepsFrom(1).with("redlock", "setnx-expire", "lua-setnx", "getset"),
				"it still holds the lock, so the other waits", "它仍然持有锁，所以另一单等待"),
			expectHolds(LockNames{"atomic", "optimistic", "non-idempotent"}, "the write itself looks at the stock", "写入时会再看库存"),
		},
	}, {
		Name: "clock-skew", Shows: "getset", Cured: "v2",
		Title:    both("One clock is an hour ahead: two hold the lock", "一台机器的时钟快一小时：两单同时持有锁"),
		Claim:    both("a wrong clock does not give the lock to two", "时钟不准也不会让两单同时持有锁"),
		Cure:     both("let Redis count the time: SET … EX", "让 Redis 计时：SET … EX"),
		Explore:  "--skew 15s --anomaly two-holders",
		Shop:     Settings{Think: each(time.Second, "r1", "r2"), Ahead: each(time.Hour, "r2")},
		Scenario: whileHeld("r2"),
		Fault:    both("the second sale, an hour ahead, asks while the first is at work", "第一单执行期间，时钟快一小时的第二单来加锁"),
		Hit:      requestedInTime("r2#1"),
		Proof:    sold("r2#1"),
		Signs:    []witness.FindingKind{witness.Overlapped},
		Expected: []Expectation{
			expectBroken(LockNames{"getset"}, "by the clock of r2 the lock has expired long ago", "按 r2 的时钟，锁早已过期"),
			expectHolds(StepsFrom(1).with("redlock", "late-commit", "setnx-expire", "lua-setnx"),
				"only durations are measured by the own clock", "本机时钟只用来测量时长"),
			excludesNobody(),
		},
	}, {
		// No step has the flaw: the lease releases with a context of its own.
		Name: "cancelled-request", Cured: "v4",
		Title: both("The buyer leaves: does the lock stay?", "客户端中途断开：锁会残留吗？"),
		Claim: both("a buyer who goes away does not leave the lock behind", "客户端中途断开，锁不会残留"),
		Cure: both("the release has a context of its own, which no buyer can cancel (context.WithoutCancel)",
			"解锁用自己的 context，买家无法取消它（context.WithoutCancel）"),
		Explore: "--faults cancel=1",
		Shop:    Settings{Wait: 5 * time.Second, Think: each(time.Minute, "r1")},
		Scenario: func(s *Stage) {
			first := s.Hold("r1")
			first.Leave()
			s.Finish(first, s.Buy("r2"))
		},
		Fault: both("the buyer goes away, and the sale ends unsold", "客户端断开，这一单没有卖出就结束"),
		Hit:   failed("r1#1"),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain},
		Expected: []Expectation{
			expectHolds(StepsFrom(1).with("redlock", "late-commit", "setnx-expire", "lua-setnx", "getset"),
				"the lock is given back all the same", "锁照样会释放"),
			nothingToWaitFor(),
		},
	}, {
		Name: "late-command", Shows: "v1", Cured: "v2",
		Title:   both("The sale gives up; then its command takes the lock", "这一单已放弃，加锁命令才到达"),
		Claim:   both("a command that arrives when its sale has given up does not block the others forever", "这一单放弃后命令才到达，别人也不会永远等下去"),
		Cure:    both("an expiry in the same command: what arrives late goes by itself, too", "在同一条命令里设置过期时间：迟到的锁也会自行过期"),
		Explore: "--faults late=1 --anomaly left-behind",
		Shop:    Settings{TTL: time.Second, Wait: 5 * time.Second},
		Scenario: func(s *Stage) {
			first, trap := s.BuyCaught("r1", fault.Hold, fault.IsTake)
			s.AwaitAnswers(first) // The first sale gives up.
			s.Release(trap)
			s.AwaitReply(trap)
			s.Finish(first, s.Buy("r2"))
		},
		Fault: both("the first sale fails while its command is on the way, and then the command takes the lock", "第一单失败时命令还在途中，随后这条命令加锁成功"),
		Hit:   all(occurred(witness.KindCommandReleased), failed("r1#1"), refused("r2#1")),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain},
		Expected: []Expectation{
			expectBroken(LockNames{"v1"}, "the lock is nobody's, and never expires", "锁不属于任何人，也永不过期"),
			expectBroken(LockNames{"setnx-expire"}, "its second command was never sent", "它的第二条命令没有发出"),
			expectHolds(StepsFrom(2).with("lua-setnx", "late-commit"), "the lock that nobody has expires", "没有人持有的锁会过期"),
			expectHolds(LockNames{"getset"}, "the value itself is the expiry", "值本身就是过期时刻"),
			notBehindProxy(),
			nothingToWaitFor(),
		},
	}, {
		Name: "polling-storm", Shows: "v9", Cured: "v10",
		Title: both("Whoever waits asks Redis again and again", "等锁的人反复轮询 Redis"),
		Claim: both("a sale that waits does not ask Redis again and again", "等待的一单不会反复轮询 Redis"),
		Cure: both("a queue of processes in Redis: whoever releases gives the turn to the first, and wakes it by a message",
			"Redis 里的进程队列：释放后轮到队首，并发消息唤醒它"),
		Shop:     Settings{TTL: 10 * time.Second, Think: each(2*time.Second, "r1")},
		Scenario: whileHeld("r2"),
		Fault:    both("the second sale asks while the first is at work, and both write", "第一单执行期间，第二单来加锁，两单都写入"),
		Hit:      all(requestedInTime("r2#1"), answered("r1#1"), answered("r2#1")),
		Signs:    []witness.FindingKind{witness.PolledOften},
		Expected: []Expectation{
			expectBroken(Steps(1, 9).with("setnx-expire", "lua-setnx", "getset", "late-commit"), "it asks every 20ms", "它每 20 毫秒轮询一次"),
			expectHolds(StepsFrom(10), "it asks for a place in the queue, and is told when it is its turn", "它在队列里占一个位置，轮到时会收到通知"),
			expectBroken(LockNames{"redlock"}, "it asks all nodes again every 10 to 20ms", "它每 10 到 20 毫秒再次轮询所有节点"),
			nobodyWaits(),
		},
	}}
}
