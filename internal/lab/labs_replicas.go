package lab

import (
	"time"

	"lockstep/internal/fault"
	"lockstep/internal/language"
	"lockstep/internal/witness"
)

const (
	placeTTL     = 2 * time.Second // expiry of the lock, and of a place in the queue
	lostWakeTTL  = 4 * time.Second // expiry of the lock in the lab that loses a wake-up message
	rivals       = 6               // number of sales that request the lock after the starved one
	maxOvertakes = 4               // largest number of overtakes that does not count as starvation: v10 has three at most here
)

// replicas returns the labs in which several replicas work together: they run a scheduled job, or wait in a queue.
func replicas() []Lab {
	both := language.Both
	return []Lab{{
		Name: "scheduled-job", Shows: "v0", Cured: "v1",
		Title: both("Every replica runs the scheduled job", "每个实例都运行了一遍定时任务"),
		Claim: both("a scheduled job is run once a tick, however many replicas there are", "无论有多少实例，定时任务每个 tick 只运行一次"),
		Cure: both(
			"a lock that every replica tries once a tick; whoever gets it runs the job, and keeps the lock for a part of the tick",
			"每个实例在每个 tick 尝试加锁一次；成功的运行任务，并在 tick 的一部分时间里继续持有锁"),
		Shop:     Settings{Job: &Job{}},
		Scenario: func(s *Stage) { s.record.WatchTicks(2) },
		Proof:    all(hasEvent("r1", witness.KindLockTried), hasEvent("r2", witness.KindLockTried)),
		Fault:    both("the first tick is run", "第一个 tick 的任务运行了"),
		Hit:      some(runBegins(1)),
		Signs:    []witness.FindingKind{witness.RanTickTwice, witness.MissedTick, witness.Overlapped},
		Expected: []Expectation{
			expectBroken(LockNames{"v0", "atomic", "optimistic", "non-idempotent"}, "there is no lock: every replica runs the job", "没有锁：每个实例都运行任务"),
			expectBroken(LockNames{"set-expire", "setex"}, "everybody gets the lock: every replica runs the job", "谁都能加锁成功：每个实例都运行任务"),
			expectBroken(LockNames{"local"}, "each process has a lock of its own", "每个进程各有一把锁"),
			expectHolds(StepsFrom(1).with("redlock", "late-commit", "setnx-expire", "lua-setnx", "getset"),
				"only one replica gets the lock of a tick", "每个 tick 只有一个实例加锁成功"),
		},
	}, {
		Name: "stampede", Shows: "v0", Cured: "v4",
		Title: both("The cache expires: everybody computes at once", "缓存过期：所有进程同时重算"),
		Claim: both("a cached value that expires is computed by one process, not by all at once (a stampede)",
			"缓存的值过期时，只由一个进程重新计算，而不是所有进程同时计算（缓存击穿）"),
		Cure: both("each process tries the lock once; whoever gets it computes, and keeps it until all have tried; others serve the old value",
			"每个进程只尝试加锁一次；成功的去计算，并持有锁到大家都试过；其余的先返回旧值"),
		Shop:     Settings{Replicas: 5, Job: &Job{Work: time.Second / 2, IsCache: true}},
		Scenario: func(s *Stage) { s.record.WatchTicks(1) },
		Proof:    all(hasEvent("r1", witness.KindLockTried), hasEvent("r5", witness.KindLockTried)),
		Fault:    both("the value has expired, and somebody computes it", "值已过期，有进程在计算"),
		Hit:      some(runBegins(1)),
		Signs:    []witness.FindingKind{witness.RanTickTwice, witness.MissedTick, witness.Overlapped},
		Expected: []Expectation{
			expectBroken(LockNames{"v0", "atomic", "optimistic", "non-idempotent"}, "there is no lock: all five compute at once", "没有锁：五个进程同时计算"),
			expectBroken(LockNames{"set-expire", "setex"}, "everybody gets the lock: all five compute at once", "谁都能加锁成功：五个进程同时计算"),
			expectBroken(LockNames{"local"}, "each process has a lock of its own", "每个进程各有一把锁"),
			expectHolds(StepsFrom(1).with("redlock", "late-commit", "setnx-expire", "lua-setnx", "getset"),
				"one gets the lock; the others are refused, and do not wait",
				"一个加锁成功，其余的被拒绝，也不等待"),
		},
	}, {
		Name: "job-holder-dies", Shows: "v1", Cured: "v2",
		Title:   both("The job's replica dies: no later tick is run", "运行任务的实例崩溃：任务不再运行"),
		Claim:   both("a replica that dies with the lock of a scheduled job costs no other tick", "持有定时任务的锁的实例崩溃，不影响别的 tick"),
		Cure:    both("an expiry of half a tick", "过期时间为半个 tick"),
		Explore: "--faults crash=1 --anomaly left-behind",
		Shop:    Settings{Job: &Job{}},
		Scenario: func(s *Stage) {
			s.record.KillRunner()
			s.record.AwaitTicks(3)
		},
		Fault: both("the replica that runs the first tick dies with the lock", "运行第一个 tick 的任务的实例，持有锁时崩溃"),
		Hit:   diedWithJobLock(tickInterval * 2 / 5),
		Signs: []witness.FindingKind{witness.RanTickTwice, witness.MissedTick, witness.Overlapped},
		Expected: []Expectation{
			expectBroken(LockNames{"v1"}, "the dead replica's lock stays: the job is never run again", "崩溃的实例的锁残留：任务再也不运行"),
			expectHolds(StepsFrom(2).with("redlock", "late-commit", "lua-setnx"), "the lock expires before the next tick", "锁在下一个 tick 之前过期"),
			expectHolds(LockNames{"setnx-expire"},
				"it died after its second command: see dies-between-set-and-expire", "它在第二条命令之后崩溃：见 dies-between-set-and-expire"),
			expectHolds(LockNames{"getset"}, "the others find the expiry in the past, and take the lock over", "其他实例发现锁已过期，于是接管"),
			notApplicable(nonExcluding(), "every replica runs every tick: see scheduled-job", "每个实例在每个 tick 都运行任务：见 scheduled-job"),
		},
	}, {
		Name: "job-overruns", Shows: "v5", Cured: "v6",
		Title:    both("The job outlasts its tick: two runs overlap", "任务比 tick 还长：两次运行重叠"),
		Claim:    both("a run of a scheduled job that takes longer than its tick has no other run beside it", "定时任务运行得比 tick 长，也不会与另一次运行重叠"),
		Cure:     both("renewal: the lock lasts as long as the run, and the ticks meanwhile are left out", "续期：任务运行多久，锁就持有多久，其间的 tick 跳过"),
		Explore:  "--work 25s --anomaly two-holders",
		Shop:     Settings{Job: &Job{Work: tickInterval * 3 / 2}},
		Scenario: func(s *Stage) { s.record.WatchTicks(3) },
		Proof:    all(hasEvent("r1", witness.KindLockTried), hasEvent("r2", witness.KindLockTried)),
		Fault:    both("a run goes on when the next tick begins", "下一个 tick 开始时，上一次运行还在继续"),
		Hit:      outlastsTick,
		Signs:    []witness.FindingKind{witness.RanTickTwice, witness.MissedTick, witness.Overlapped},
		Expected: []Expectation{
			expectBroken(Steps(2, 5).with("late-commit", "setnx-expire", "lua-setnx", "getset"),
				"the lock expires after half a tick, and the next run begins beside",
				"锁在半个 tick 后过期，下一次运行与它重叠"),
			expectHolds(LockNames{"v1"}, "its lock never expires: the next tick is left out", "它的锁永不过期：下一个 tick 跳过"),
			expectHolds(StepsFrom(6).with("redlock"), "the lock is renewed: the next tick is left out", "锁会续期：下一个 tick 跳过"),
			notApplicable(nonExcluding(), "every replica runs every tick: see scheduled-job", "每个实例在每个 tick 都运行任务：见 scheduled-job"),
		},
	}, {
		Name: "endless-renewal", Cured: "v6",
		Title: both("The work is over: does the renewal end?", "业务已经结束：续期会停吗？"),
		Claim: both("a lock is not renewed any more once the work is over that it was for", "业务结束后，它的锁不再续期"),
		Cure: both(
			"the renewal belongs to the lease: Unlock ends it first, and only then tries to release the lock; what is not released expires",
			"续期属于租约：解锁时先停止续期，再释放锁；没能释放的锁会过期"),
		Explore: "--faults lost-request=1 --anomaly goroutine-leak",
		Shop:    Settings{TTL: 1500 * time.Millisecond, Wait: 6 * time.Second, Think: each(time.Minute, "r1")},
		// No step has the known flaw of watchdogs, a renewal that outlives its work. From v6 on, work without an end keeps its lock, as it
		// should; here the work ends with its request.
		Scenario: func(s *Stage) {
			trap := s.Catch("r1", 0, fault.LoseRequest, fault.IsRelease)
			first := s.Hold("r1")
			second := s.Wait("r2")
			s.Await(stepOf("r1", "renew its lock", "给锁续期"), renewed("r1"))
			first.Leave()
			s.AwaitCaught(trap, ended("r1#1"))
			s.Finish(first, second)
		},
		Fault: both("r1 has renewed its lock, the buyer goes away, and the release is lost", "r1 续期之后客户端断开，解锁命令丢失"),
		Hit:   all(occurred(witness.KindCommandLost), renewedInTime("r1#1")),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.RenewedAfterEnd, witness.WaitedInVain},
		Expected: []Expectation{
			expectHolds(Steps(6, 8), "the renewal ends before the release; then the lock expires", "先停止续期再释放；之后锁会过期"),
			expectHolds(StepsFrom(9), "there is one renewal per holding, and it ends with it", "每个持有期只有一个续期，持有期结束，续期也结束"),
			notApplicable(Steps(1, 5).with("setnx-expire", "lua-setnx", "getset", "late-commit"), "nothing renews its lock", "它的锁没有人续期"),
			notApplicable(LockNames{"redlock"}, "the lab loses one release, and each node gets its own", "这个实验只丢一条解锁命令，而每个节点各收到一条"),
			nobodyHolds(),
		},
	}, {
		Name: "dead-waiter", Cured: "v10",
		Title: both("A waiter dies in the queue: how long do the others wait?", "等待者在队列里崩溃：别人要等多久？"),
		Claim: both("a waiter that dies holds the others up for one expiry and a quarter at most", "等待者崩溃，别人最多多等 1.25 倍过期时间"),
		Cure: both(
			"a place in the queue expires unless its process asks again, and a lock that is handed over lasts as long as that place",
			"进程不再重新请求，它在队列里的位置就会过期；移交给它的锁与这个位置同时过期"),
		Explore: "--actors 3 --faults crash=1 --anomaly stuck",
		Shop:    Settings{Replicas: 4, TTL: placeTTL, Wait: 8 * time.Second, Think: each(time.Minute, "r1")},
		// The lock is handed to the first of the dead, and the second's place is in the way.
		Scenario: func(s *Stage) {
			first := s.Hold("r1")
			s.Wait("r2")
			s.Wait("r3")
			last := s.Wait("r4")
			s.Kill("r2")
			s.Kill("r3")
			first.Leave()
			s.Finish(first, last)
		},
		Fault:  both("r2 and r3 die while they wait before r4", "排在 r4 前面的 r2 和 r3 在等待时崩溃"),
		Hit:    all(diedWaiting("r2#1"), diedWaiting("r3#1"), requestedInTime("r4#1")),
		Proof:  sold("r4#1"),
		Signs:  []witness.FindingKind{witness.WaitedInVain, witness.LockIdle},
		Blames: idleFor(placeTTL*5/4 + busySlack),
		Expected: []Expectation{
			expectHolds(StepsFrom(10), "it is the turn of the dead until its place expires; then the next that lives is the first",
				"先轮到崩溃的进程，直到它的位置过期；然后轮到下一个存活的"),
			expectHolds(Steps(1, 9).with("redlock", "setnx-expire", "lua-setnx", "getset", "late-commit"),
				"there is no queue of processes: who is dead does not ask",
				"进程之间没有队列：崩溃的进程不会再来加锁"),
			nobodyWaits(),
		},
	}, {
		Name: "missed-wake-up", Cured: "v10",
		Title: both("The wake-up is lost: does the waiter go on?", "唤醒消息丢失：等待者还能继续吗？"),
		Claim: both("a waiter whose message is lost goes on within a quarter of the expiry", "唤醒消息丢失的等待者，在四分之一个过期时间内继续"),
		Cure: both("a message only saves time: who waits asks again every quarter of the expiry, and then gets the lock",
			"消息只是为了省时间：等待者每隔四分之一过期时间再试一次，那时就能加锁成功"),
		Explore: "--faults lost-wake=1",
		Shop:    Settings{TTL: lostWakeTTL, Wait: 2 * lostWakeTTL, Think: each(time.Minute, "r1")},
		Scenario: func(s *Stage) {
			trap := s.Catch("r2", 0, fault.LoseMessage, fault.IsTurn)
			hears := s.Pass("r2", 0, fault.IsSubscription)
			asksAgain := s.Pass("r2", 0, fault.SkipFirst(2, fault.IsTake)) // A waiter tries once more when it is woken.
			first := s.Hold("r1")
			second := s.Buy("r2")
			s.AwaitReply(hears)
			s.AwaitReply(asksAgain)
			first.Leave()
			s.AwaitCaught(trap, ended("r2#1"))
			s.Finish(first, second)
		},
		Fault:  both("r1 gives the lock back, and the message that wakes r2 is lost", "r1 释放锁，唤醒 r2 的消息丢失"),
		Hit:    all(occurred(witness.KindMessageLost), requestedInTime("r2#1")),
		Proof:  sold("r2#1"),
		Signs:  []witness.FindingKind{witness.WaitedInVain, witness.LockIdle},
		Blames: idleFor(lostWakeTTL/4 + busySlack),
		Expected: []Expectation{
			expectHolds(StepsFrom(10), "it asks again after a quarter of the expiry", "过四分之一个过期时间后它会再试"),
			notApplicable(Steps(1, 9).with("redlock", "setnx-expire", "lua-setnx", "getset", "late-commit"),
				"nobody is told: who waits asks again and again", "没有唤醒消息：等待者反复轮询"),
			nobodyWaits(),
		},
	}, {
		Name: "starvation", Shows: "v7", Cured: "v8",
		Title:    both("Latecomers overtake a sale again and again", "后来的请求反复插队"),
		Claim:    both("a sale is not overtaken again and again by later sales of its own process", "一单不会反复被本进程中后来的请求插队"),
		Cure:     both("a queue inside the process: first come, first served", "进程内队列：先到先得"),
		Explore:  "--sales 3 --replicas 1 --anomaly starved",
		Shop:     Settings{Replicas: 1},
		Scenario: func(s *Stage) { starve(s, "r1#1", "r1#2", fault.SkipFirst(2, fault.IsTake)) },
		Fault:    both("the next attempt of the second sale is held on its way, and others ask after it", "第二单的下一次尝试被扣在途中，别的单在它之后来加锁"),
		Hit:      requestedAfter("r1#2", rivals), Signs: []witness.FindingKind{witness.Overtaken}, Blames: starved("r1#2"), Draws: 3,
		Expected: []Expectation{
			expectBroken(Steps(1, 7).with("setnx-expire", "lua-setnx", "getset", "late-commit"),
				"everybody asks now and then, and gets the lock by chance",
				"各自定时轮询，谁能加锁成功全凭运气"),
			expectHolds(StepsFrom(8).with("redlock", "local"), "the sales of a process stand in a queue", "同一进程的各单排队"),
			notApplicable(LockNames{"v0", "atomic", "optimistic", "non-idempotent", "set-expire", "setex"}, "nobody waits", "没有人等待"),
		},
	}, {
		Name: "starvation-replicas", Shows: "v9", Cured: "v10",
		Title: both("Another process overtakes a sale again and again", "别的进程反复插队"),
		Claim: both("a sale is not overtaken again and again by later sales of another process", "一单不会反复被另一个进程中后来的请求插队"),
		Cure: both(
			"a queue of processes in Redis: a process hands the lock to as many of its own sales as is fair, and then to the next process",
			"Redis 里的进程队列：一个进程先移交给自己的若干单（次数有公平的上限），再移交给下一个进程"),
		Explore: "--actors 4 --anomaly starved", ExploreByLock: map[string]string{"v8": "--sales 3 --anomaly starved"},
		Scenario: func(s *Stage) { starve(s, "r2#1", "r1#1", fault.SkipFirst(1, fault.IsTake)) },
		Fault:    both("the next attempt of r1's sale is held on its way, and sales of r2 ask after it", "r1 的一单的下一次尝试被扣在途中，r2 的单在它之后来加锁"),
		Hit:      requestedAfter("r1#1", rivals), Signs: []witness.FindingKind{witness.Overtaken}, Blames: starved("r1#1"), Draws: 3,
		Expected: []Expectation{
			expectBroken(Steps(1, 8).with("setnx-expire", "lua-setnx", "getset", "late-commit"),
				"whoever asks at the right moment gets the lock", "谁恰好轮询到，锁就归谁"),
			expectBroken(LockNames{"v9", "redlock"},
				"the other process hands the lock to its own sales, and this one asks now and then", "另一个进程把锁移交给自己的单，这一单隔一段时间才轮询一次"),
			expectHolds(StepsFrom(10),
				"a process that others wait for hands the lock to its own sales three times at most, if nobody waited when it got it",
				"有别的进程等待时，一个进程最多移交给自己的单三次（如果它加锁成功时没有人等待）"),
			nobodyWaits(),
		},
	}}
}

// starve is the scenario of a sale (victim) that waits for a lock while rivals in the holder's process request the lock. The victim's next
// attempt, the first command that matches next, is delayed until all rivals have had the lock. A lock that serves the victim earlier, or
// without another attempt, does not starve the victim.
func starve(s *Stage, holder, victim string, next func(args []string) bool) {
	theirs, its := witness.ReplicaOf(holder), witness.ReplicaOf(victim)
	late, taken := s.Catch(its, 0, fault.Hold, next), s.Pass(theirs, 0, fault.IsTake)
	first, reading := s.BuyCaught(theirs, fault.Hold, fault.IsRead)
	all := []*Purchase{first, s.Buy(its)}
	s.Await(toWait(victim), s.waiting(victim))
	if taken.IsCaught() && !s.isInLine(its) { // queued locks ask only when it is their turn
		s.AwaitCaught(late, obtained(victim))
	}
	others := count(s.collector.Events(), ofKind(theirs, witness.KindAsks))
	for range rivals {
		all = append(all, s.Buy(theirs))
	}
	s.Await(toAsk(theirs), atLeast(others+rivals, theirs, witness.KindAsks))
	s.Release(reading)
	s.Await(toObtain(theirs), either(atLeast(1+rivals, theirs, witness.KindObtains), obtained(victim), handedOff(theirs)))
	s.Release(late)
	s.AwaitAnswers(all...)
	s.Await(toEnd(victim), ended(victim))
}

// starved accepts findings of a sale that was overtaken too often.
func starved(sale string) func(witness.Finding) bool {
	return func(f witness.Finding) bool { return f.Subject == sale && f.Count > maxOvertakes }
}

// requestedAfter is met when at least n sales requested the lock after a sale that obtained the lock in the end.
func requestedAfter(sale string, n int) Condition {
	return all(obtained(sale), metAfter(ofKind(sale, witness.KindAsks), atLeast(n, "", witness.KindAsks)))
}
