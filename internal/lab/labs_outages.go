package lab

import (
	"time"

	"lockstep/internal/fault"
	"lockstep/internal/language"
	"lockstep/internal/witness"
)

// goneWait is how long sales wait for the lock, both while Redis is gone and afterwards.
const goneWait = 5 * time.Second

// outages returns the labs in which a Redis, a process or the network between them fails.
func outages() []Lab {
	both := language.Both
	return []Lab{{
		Name: "failover", Shows: "v11", Cured: "redlock", Needs: []Need{RealRedis},
		Title: both("The master dies: its successor knows of no lock", "主节点宕机：接替它的从节点里没有这把锁"),
		Claim: both("a master that dies while the lock is held does not let a second holder in beside the first",
			"持锁期间主节点宕机，第二个持有者不会与第一个同时在临界区里"),
		Cure: both(
			"no replica that takes over with less: the lock on independent masters, of which a minority may stop; or no lock for what the store "+
				"can compare by itself (optimistic), though a failover still loses sales that were answered",
			"不让数据更少的从节点接管：锁放在多个独立主节点上，少数可以宕机；或者存储自己能比较的，就不用锁（optimistic），但切换仍会丢掉已经响应的订单"),
		ExploreByLock: map[string]string{
			"v10":     "--faults failover=1 --anomaly two-holders",
			"v11":     "--faults failover=1 --anomaly two-holders",
			"redlock": "--try 2 --faults node-crash=1",
		},
		Shop: Settings{Think: map[string]time.Duration{"r1": 4 * time.Second, "r2": time.Second}, Replicated: true},
		// Redlock has no replicas: of its masters, one dies.
		Scenario: func(s *Stage) {
			die := s.FailOver
			if s.onNodes {
				die = func() { s.Crash(1) }
			} else {
				s.Lag()
			}
			first := s.Work("r1")
			die()
			s.Finish(s.Buy("r2"), first)
		},
		Fault:  both("a master that has the lock dies while the first sale is at work, and both write", "第一单执行期间，存有锁的主节点宕机，两单都写入"),
		Hit:    all(either(occurred(witness.KindFailsOver), occurred(witness.KindCrashes)), answered("r1#1"), answered("r2#1")),
		Signs:  []witness.FindingKind{witness.Overlapped},
		Blames: lastsFor(lossNoticeSlack),
		Expected: []Expectation{
			expectBroken(Steps(1, 6).with("late-commit", "setnx-expire", "lua-setnx", "getset"),
				"the replica takes over and has not heard of the lock: the second gets it, too, and the first writes over its sale",
				"接管的从节点没有收到这把锁：第二单也加锁成功，第一单覆盖它的写入"),
			expectBroken(StepsFrom(7),
				"the replica takes over and has not heard of the lock: the second gets it, too; its token is larger, as the replica's clock is "+
					"not behind, so the store refuses the first", "接管的从节点没有收到这把锁：第二单也加锁成功；从节点的时钟不落后，所以它的令牌更大，存储拒绝第一单"),
			expectHolds(LockNames{"redlock"}, "four of five masters still have the lock, and the dead one has no replica that could say otherwise",
				"五个主节点中四个仍有这把锁，宕机的那个没有从节点来接替它"),
			nobodyHolds(),
		},
	}, {
		Name: "older-snapshot", Shows: "v6", Cured: "v7", Needs: []Need{RealRedis},
		Title: both("Redis restarts from an older snapshot: the lock is gone", "Redis 从旧快照重启：锁丢失"),
		Claim: both("a Redis that restarts with an older snapshot does not let a second holder overwrite the first one's sale",
			"Redis 重启后回到较早的快照，第二个持有者不会覆盖第一个的写入"),
		Cure: both(
			"a token no smaller than the server's time: it grows also if Redis has forgotten the last one. Sales that were answered after the "+
				"snapshot are lost all the same: only a file that is written before the answer keeps them (appendonly yes, appendfsync always)",
			"令牌不小于服务器的时间：Redis 忘了上一个令牌，新令牌也更大。快照之后已经响应的订单仍会丢失：只有先落盘再响应才能保住（appendonly yes、appendfsync always）"),
		Explore: "--faults rollback=1 --anomaly lost-update",
		Shop:    Settings{Think: each(4*time.Second, "r1")},
		Scenario: func(s *Stage) {
			s.SaveSnapshot()
			first := s.Work("r1")
			s.RollBack()
			s.Finish(s.Buy("r2"), first)
		},
		Fault: both("Redis restarts with a snapshot from before the first sale while that is at work, and both write",
			"第一单执行期间 Redis 重启，回到第一单之前的快照，两单都写入"),
		Hit:   all(occurred(witness.KindRolledBack), answered("r1#1"), answered("r2#1")),
		Signs: []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			expectBroken(Steps(1, 6).with("late-commit", "setnx-expire", "lua-setnx", "getset"),
				"the snapshot does not have the lock: the second gets it, too", "快照里没有这把锁：第二单也加锁成功"),
			expectHolds(StepsFrom(7),
				"the snapshot has neither the lock nor the last token; but the second's token is larger, as time goes on, and the store "+
					"refuses the first", "快照里既没有锁，也没有最新的令牌；但时间在走，第二单的令牌更大，存储拒绝第一单"),
			expectHolds(LockNames{"redlock"}, "its lock is on other nodes, which forget nothing", "它的锁在别的节点上，那些节点什么都没有丢"),
			nobodyHolds(),
		},
	}, {
		Name: "eviction", Shows: "v6", Cured: "v7", Needs: []Need{RealRedis},
		Title: both("Redis runs out of memory and evicts the lock", "Redis 内存不足，把锁淘汰了"),
		Claim: both("a Redis that runs out of memory, and evicts keys with an expiry, does not let a second holder overwrite the first",
			"Redis 内存不足，淘汰带过期时间的键，第二个持有者不会覆盖第一个的写入"),
		Cure: both(
			"the store refuses the token of the holder whose lock was evicted; better a Redis for the locks alone with maxmemory-policy noeviction",
			"持有者的锁被淘汰后，存储拒绝它的令牌；更好的办法是锁单独用一个 Redis，maxmemory-policy 设为 noeviction"),
		Explore: "--faults evict=1 --anomaly lost-update",
		Shop:    Settings{Think: each(4*time.Second, "r1")},
		Scenario: func(s *Stage) {
			first := s.Work("r1")
			s.Evict(s.lockOn(1))
			s.Finish(s.Buy("r2"), first)
		},
		Fault: both("a Redis with the lock evicts keys while the first sale is at work, and both write", "第一单执行期间，存有锁的 Redis 淘汰了键，两单都写入"),
		Hit:   all(occurred(witness.KindEvicted), answered("r1#1"), answered("r2#1")),
		Signs: []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			expectBroken(Steps(2, 6).with("late-commit", "setnx-expire", "lua-setnx"),
				"volatile-lru evicts keys that have an expiry, and that is the lock: the second gets it, too",
				"volatile-lru 淘汰带过期时间的键，锁正是这样的键：第二单也加锁成功"),
			expectHolds(StepsFrom(7), "the last token has no expiry, and stays: the second's is larger, and the store refuses the first",
				"最新的令牌没有过期时间，不会被淘汰：第二单的令牌更大，存储拒绝第一单"),
			expectHolds(LockNames{"redlock"}, "one of five masters evicts the lock, and four still have it", "五个主节点中一个淘汰了锁，四个还在"),
			notApplicable(LockNames{"v1", "getset"}, "its key has no expiry, so volatile-lru does not evict it", "它的键没有过期时间，volatile-lru 不会淘汰它"),
			nobodyHolds(),
		},
	}, {
		Name: "partition", Shows: "v5", Cured: "v6",
		Title: both("Back from a network cut, the old holder writes", "网络恢复后，旧持有者照样写入"),
		Claim: both("a holder that was cut off past the expiry of its lock writes nothing when it reaches Redis again",
			"持有者断网超过锁的过期时间，重新连上 Redis 后什么也写不进去"),
		Cure: both("one expiry after it last heard of its lock, a holder is told that the lock is lost: the context of its work ends",
			"持有者最近一次得知锁有效之后过了一个过期时间，就得知锁已丢失：业务的 context 被取消"),
		Explore: "--work 15s --faults lost-request=1 --anomaly lost-update",
		Shop:    Settings{TTL: 1500 * time.Millisecond, Wait: 15 * time.Second, Think: each(6*time.Second, "r1")},
		Scenario: func(s *Stage) {
			first := s.Work("r1")
			s.Cut("r1")
			s.Finish(s.Buy("r2"))
			s.Reconnect("r1")
			s.Finish(first)
		},
		Fault: both(
			"r1 is cut off while its sale holds the lock, the other sells, and r1 reaches Redis before its write, or is told first",
			"r1 的一单持有锁时断网，另一单卖出，r1 在写入之前重新连上 Redis，或先得知锁丢失"),
		Hit: all(occurred(witness.KindCutOff), occurred(witness.KindReconnects),
			answered("r2#1"), either(answered("r1#1"), firstSaleLearnedOfLoss())),
		Signs: []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			expectBroken(Steps(2, 5).with("late-commit", "setnx-expire", "lua-setnx", "getset"),
				"nobody tells the holder, and the store takes a write from anybody",
				"没有谁通知持有者，而存储接受任何人的写入"),
			expectHolds(StepsFrom(6), "the holder knows when its lock can have expired, and stops", "持有者知道锁何时可能已过期，并停止执行"),
			expectHolds(LockNames{"redlock"}, "the holder knows for how long a majority's word is valid, and stops", "持有者知道锁的有效时间，到时停止执行"),
			neverExpires(),
			excludesNobody(),
		},
	}, {
		Name: "slow-node", Shows: "v9", Cured: "redlock",
		Title: both("One slow Redis holds up every sale", "一个 Redis 变慢，谁都无法加锁"),
		Claim: both("one Redis that does not answer in time does not keep a sale from the lock", "一个 Redis 没有及时响应，不妨碍加锁成功"),
		Cure: both("the lock on a majority of independent masters: a twentieth of the expiry for each, and a minority may be late",
			"锁在多数独立主节点上：每个节点最多等二十分之一个过期时间，少数可以迟到"),
		ExploreByLock: map[string]string{"redlock": "--try 2 --faults node-hang=1"},
		Shop:          Settings{Replicas: 1, TTL: 10 * time.Second},
		Scenario: func(s *Stage) {
			node := s.lockOn(1)
			trap := s.Catch("r1", node, fault.Hold, fault.IsTake)
			only := s.Buy("r1")
			s.AwaitCaught(trap, ended("r1#1"))
			s.Finish(only)
			s.Release(trap)
			s.AwaitReply(trap)
			if s.onNodes {
				removes := commands("r1#1", witness.Removes, "")
				s.Await(both("the late node to be given back", "迟到的节点释放锁"),
					some(func(e witness.Event) bool { return e.Node == node && removes(e) }))
			}
		},
		Fault: both("the command for the lock is held until the sale has ended", "加锁命令被扣留，直到这一单结束"),
		Hit:   occurred(witness.KindCommandHeld),
		Proof: sold("r1#1"),
		Signs: []witness.FindingKind{witness.Unanswered},
		Expected: []Expectation{
			expectBroken(StepsFrom(1).with("late-commit", "setnx-expire", "lua-setnx", "getset", "set-expire", "setex"),
				"there is one Redis to ask: the sale waits for it until the client gives up", "只能请求一个 Redis：这一单一直等到客户端放弃"),
			expectHolds(LockNames{"redlock"}, "four of five nodes answer, and the late one is waited for no longer than a twentieth of the expiry",
				"五个节点中四个有响应，迟到的那个最多等二十分之一个过期时间"),
			notInRedis(),
		},
	}, {
		Name: "empty-restarted-node", Shows: "redlock",
		Title: both("A Redis restarts empty: a second holder comes in", "一个 Redis 清空重启：第二个持有者进入临界区"),
		Claim: both("a Redis that restarts empty does not let a second holder overwrite the first one's sale", "Redis 清空重启，第二个持有者不会覆盖第一个的写入"),
		Cure: both(
			"a node must stay away for a little longer than the longest expiry before it starts again, or write every command to disk before it "+
				"answers (appendonly yes, appendfsync always). A store that checks a token refuses the write, but redlock has no token",
			"节点重启后，要先等一段比最长过期时间稍长的时间再恢复服务，或者每条命令先落盘再响应（appendonly yes、appendfsync always）。"+
				"检查令牌的存储会拒绝这次写入，但 redlock 没有令牌"),
		ExploreByLock: map[string]string{"redlock": "--faults node-restart=1 --nested 1 --anomaly two-holders"},
		Shop:          Settings{Think: each(4*time.Second, "r1")},
		// One of the three nodes that make up the majority restarts.
		Scenario: func(s *Stage) {
			const forgets, unreached, unreachedToo = 3, 4, 5
			s.CutNode("r1", unreached)
			s.CutNode("r1", unreachedToo)
			first := s.Work("r1")
			s.Empty(forgets)
			s.Finish(s.Buy("r2"), first)
		},
		Fault: both("a Redis with the lock restarts empty while the first sale is at work, and both write", "第一单执行期间，存有锁的 Redis 清空重启，两单都写入"),
		Hit:   all(occurred(witness.KindEmptied), answered("r1#1"), answered("r2")),
		Signs: []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			expectBroken(LockNames{"redlock"},
				"the node that has forgotten the first makes a majority for the second, with two that the first did not reach",
				"忘了第一单的节点，与第一单没有连上的两个节点一起，为第二单凑成多数派"),
			notApplicable(StepsFrom(1).with("late-commit", "setnx-expire", "lua-setnx", "getset"),
				"its Redis forgets the stock and the run with the lock: two are inside together, and the writes of both are refused, whatever the lock",
				"它的 Redis 把库存和这一轮与锁一起丢了：两单同时在临界区里，但无论用哪种锁，两单的写入都被拒绝"),
			nobodyHolds(),
		},
	}, {
		Name: "redis-gone", Shows: "v1", Cured: "v2",
		Title: both("Redis goes and comes back: sales stay blocked", "Redis 宕机又恢复：下单仍然卡住"),
		Claim: both("while Redis is gone, each buyer is soon told the truth; when it is back, sales go on",
			"Redis 宕机时，每个买家很快得到如实的响应；Redis 恢复后，照常下单"),
		Cure:    both("an expiry: a lock that its holder could not give back goes by itself", "设置过期时间：持有者没能释放的锁会自行过期"),
		Explore: "--faults lost-request=1 --anomaly left-behind",
		Shop:    Settings{TTL: 2 * time.Second, Wait: goneWait, Durable: true},
		// A real Redis comes back from its append-only file. It is gone until every buyer has an answer: ten seconds show the same.
		Scenario: func(s *Stage) {
			first, trap := s.BuyCaught("r1", fault.HoldReply, fault.IsWrite) // r1#1 is sold, and does not know it
			second := s.BuyUntil("r2", toAsk, requested)
			s.EndRedis()
			trap.Drop()
			s.AwaitAnswers(first, second, s.Buy("r2"))
			s.BeginRedis()
			s.BuyUntilServed("r2")
			s.Await(toEnd("r1#1"), ended("r1#1"))
			s.LookUp("r2")
		},
		Fault: both("Redis is gone when r1 is to hear that it has written, and comes back", "r1 等待写入的响应时 Redis 宕机，之后恢复"),
		Hit:   all(occurred(witness.KindRedisUnreachable), occurred(witness.KindRedisReachable), failed("r1#1")),
		Proof: soldAfter(witness.KindRedisReachable, "r2"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain, witness.SoldDespiteError, witness.NeverBooked},
		Blames: func(f witness.Finding) bool { // A sale that failed at once because Redis was gone did not wait in vain.
			return f.Kind != witness.WaitedInVain || time.Duration(f.Duration) >= goneWait
		},
		Expected: []Expectation{
			expectBroken(LockNames{"v1"}, "the holder could not give its lock back, and it never expires", "持有者没能释放锁，而锁永不过期"),
			expectHolds(StepsFrom(2).with("setnx-expire", "lua-setnx"),
				"the lock that nobody could give back expires; then sales go on", "没能释放的锁会过期，之后照常下单"),
			expectHolds(LockNames{"getset"}, "the other finds the expiry in the past, and takes the lock over", "另一单发现锁已过期，于是接管"),
			expectHolds(LockNames{"late-commit"}, "it had given its lock back before it wrote", "它在写入之前已经释放了锁"),
			expectHolds(LockNames{"redlock"}, "its lock is on other nodes, which are there: it is given back", "它的锁在别的节点上，那些节点都在：锁会释放"),
			expectHolds(nonExcluding(), "there is no lock that anybody would wait for; the buyer in doubt is told so", "没有锁要等；结果未知时会如实告诉买家"),
		},
	}, {
		Name: "redis-pause", Shows: "v5", Cured: "v6",
		Title: both("Redis hangs, the lock expires, the holder is not told", "Redis 卡住期间锁过期，持有者并不知情"),
		Claim: both("a holder whose lock expires while Redis hangs is told before another gets it", "Redis 卡住期间锁过期，持有者在别人加锁成功之前得知"),
		Cure: both("the holder counts the expiry by its own clock, from when it sent the last renewal: it needs no answer to know",
			"持有者用自己的时钟，从发出最近一次续期时算起：不需要响应也能知道"),
		Explore: "--faults expiry=1 --anomaly untold",
		Shop:    Settings{TTL: 1500 * time.Millisecond, Think: map[string]time.Duration{"r1": time.Minute, "r2": time.Second}},
		Scenario: func(s *Stage) {
			s.Work("r1")
			s.HangRedis(2500 * time.Millisecond) // less than a client waits for a reply
			s.BuyUntilServed("r2")
		},
		Fault:  both("Redis hangs while r1's sale is at work, and then the other sells", "r1 的一单执行期间 Redis 卡住，之后另一单卖出"),
		Hit:    all(occurred(witness.KindRedisHangs), sold("r2")),
		Proof:  firstSaleLearnedOfLoss(),
		Signs:  []witness.FindingKind{witness.Overlapped},
		Blames: lastsFor(lossNoticeSlack),
		Expected: []Expectation{
			expectBroken(Steps(2, 5).with("setnx-expire", "lua-setnx", "getset", "late-commit"),
				"the holder asks Redis nothing, and nobody tells it", "持有者不查询 Redis，也没有谁通知它"),
			expectHolds(StepsFrom(6), "a renewal without an answer does not count: the holder stops in time", "没有响应的续期不算数：持有者及时停止"),
			neverExpires(),
			notApplicable(LockNames{"redlock"},
				"its nodes do not hang with the Redis of the stock: see slow-node", "它的节点不与存库存的 Redis 一起卡住：见 slow-node"),
			excludesNobody(),
		},
	}, {
		// A holder is suspended before it sends its write. A lock can help here, but not in paused-writer, where the write has been sent.
		Name: "stopped-process", Shows: "v5", Cured: "v6", Needs: []Need{Signals},
		Title: both("A process is stopped, goes on, and has lost its lock", "进程暂停后恢复：锁丢失，自己不知道"),
		Claim: both("a process that was stopped past the expiry of its lock is told before it writes", "进程暂停超过锁的过期时间，恢复后在写入之前得知锁丢失"),
		Cure: both("a timer at the expiry: it is overdue when the process goes on, and ends the context of the work",
			"在过期时刻设定时器：进程恢复时它已到点，于是取消业务的 context"),
		Explore: "--faults pause=1 --anomaly untold",
		Shop:    Settings{TTL: time.Second, Wait: 20 * time.Second, Think: each(5*time.Second, "r1")},
		Scenario: func(s *Stage) {
			first := s.Work("r1")
			s.Pause("r1")
			s.Finish(s.Buy("r2"))
			s.Resume("r1")
			s.Finish(first)
		},
		Fault: both("r1 is stopped at its work, the other sells, and r1 goes on before its work is done", "r1 在执行中被暂停，另一单卖出，r1 在业务结束前恢复"),
		Hit: all(occurred(witness.KindStops), answered("r2#1"),
			followsWithin(4*time.Second, ofKind("r1#1", witness.KindObtains), ofKind("r1", witness.KindResumes))), // within 4 s of 5 s of work
		Proof: either(firstSaleLearnedOfLoss(), answered("r1#1")),
		Signs: []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			expectBroken(Steps(2, 5).with("setnx-expire", "lua-setnx", "getset", "late-commit"),
				"nobody tells it, and it writes over the other's update",
				"没有谁通知它，它覆盖了另一单的更新"),
			expectBroken(LockNames{"v0", "local", "set-expire", "setex"}, "nothing keeps the other out", "没有任何机制阻止另一单"),
			expectHolds(LockNames{"v6"}, "it is told as soon as it goes on; only a write that is on its way would arrive: see paused-writer",
				"它一恢复就得知；只有已在途中的写入会到达：见 paused-writer"),
			expectHolds(StepsFrom(7),
				"it is told as soon as it goes on; and if it wrote, the store would refuse its token", "它一恢复就得知；即使写入，存储也会拒绝它的令牌"),
			expectHolds(LockNames{"redlock"}, "it is told as soon as it goes on; it has no token, should it write: see paused-writer",
				"它一恢复就得知；但如果写入，它没有令牌：见 paused-writer"),
			expectHolds(LockNames{"optimistic"}, "its write is refused, and it reads again", "它的写入被拒绝，于是重新读"),
			notApplicable(LockNames{"atomic", "non-idempotent"},
				"it reads and writes in one step, so it cannot be stopped between", "它一步完成读和写，所以中间不会被暂停"),
			neverExpires(),
		},
	}, {
		// A client got no reply, and sent its command again on its own. lockstep's clients never do that (internal/dao/redisclient); go-redis
		// does unless it is told not to. Here the proxy does it itself.
		Name: "resent-command", Shows: "v5", Cured: "v6",
		Title: both("The client sends a command twice: it counts twice", "客户端重发命令：计了两次"),
		Claim: both("a command that the client sends a second time, unasked, is not counted twice", "客户端自行重发的命令不会计两次"),
		Cure: both(
			"the outermost release removes the lock whatever Redis has counted; and clients that repeat nothing (MaxRetries: -1)",
			"最外层的解锁直接删除锁，不管 Redis 里计了几次；并且客户端不重发（MaxRetries: -1）"),
		Explore: "--faults resend=1 --anomaly idle",
		ExploreByLock: map[string]string{
			"atomic": "--faults resend=1 --anomaly double-sale", "optimistic": "--faults resend=1 --anomaly double-sale",
			"non-idempotent": "--faults resend=1 --anomaly double-sale",
		},
		Shop: Settings{Wait: 2 * time.Second},
		Scenario: func(s *Stage) {
			// of a sale without a lock, the write
			first, _ := s.BuyCaught("r1", fault.Resend, fault.Either(fault.IsTake, fault.IsWrite))
			s.AwaitAnswers(first)
			s.Finish(first, s.Buy("r2"))
			s.Recount(first)
		},
		Fault: both("Redis is sent r1's command twice", "r1 的命令发给 Redis 两次"),
		Hit:   occurred(witness.KindCommandResent),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain, witness.WaitsForItself, witness.DoubleSale},
		Expected: []Expectation{
			expectBroken(LockNames{"v1", "setnx-expire"},
				"the second is refused for the first: the sale waits for itself, and its lock never expires",
				"第二次被第一次加的锁挡住：这一单在等自己，而锁永不过期"),
			expectBroken(Steps(2, 4).with("late-commit", "lua-setnx", "getset"),
				"the second is refused for the first: the sale waits for itself until it expires",
				"第二次被第一次加的锁挡住：这一单在等自己，直到锁过期"),
			expectBroken(LockNames{"v5"}, "it is counted twice and given back once: the lock stays until it expires", "计了两次，只释放一次：锁一直留到过期"),
			expectHolds(StepsFrom(6), "it is counted twice; the outermost release gives back all of it", "计了两次；最外层解锁时一次释放干净"),
			notBehindProxy(),
			expectBroken(LockNames{"non-idempotent"}, "nothing looks whether the order is there: the command sells again", "没有检查订单是否已存在：这条命令又卖一次"),
			expectHolds(LockNames{"v0", "local", "atomic", "optimistic"}, "the ledger knows the order: it is sold once", "账本里已有这个订单：只卖一次"),
			notApplicable(LockNames{"set-expire", "setex"},
				"everybody gets the lock: none could be counted twice, or refused", "谁都能加锁成功：没有可以计两次或被拒绝的锁"),
		},
	}, {
		Name: "repeated-order", Shows: "non-idempotent", Cured: "atomic",
		Title: both("The buyer sends an order again and buys twice", "买家重发订单，买到两件"),
		Claim: both("a buyer who sends an order again, with the same Idempotency-Key, buys once", "买家用同一个 Idempotency-Key 再发一次，只买到一件"),
		Cure: both("the store looks for the order's id in the step that takes the piece; the id is made once per order, not once per attempt",
			"扣库存的那一步里先查订单的 id；id 由买家每个订单生成一次，而不是每次尝试生成一次"),
		Explore: "--faults resend=1 --anomaly double-sale",
		Shop:    Settings{TTL: 10 * time.Second},
		Scenario: func(s *Stage) {
			const key = "one-order"
			trap := s.Catch("r1", 0, fault.Hold, fault.IsWrite)
			first := s.BuyWithKey("r1", key)
			s.AwaitCaught(trap, ended(first.sale))
			again := s.BuyWithKey("r2", key)
			s.Await(stepOf(again.sale, "end, or to find the lock held", "结束，或发现锁被占用"), either(ended(again.sale), refused(again.sale)))
			s.Release(trap)
			s.Finish(first, again)
			s.Recount(first)
		},
		Fault: both("the order's write is on its way to Redis when its buyer sends it again, to another replica",
			"订单的写入还在去 Redis 的途中，买家又向另一个实例发了一次"),
		Hit:   all(occurred(witness.KindCommandReleased), answered("r1#1"), answered("r2#1")),
		Signs: []witness.FindingKind{witness.DoubleSale},
		Expected: []Expectation{
			expectBroken(LockNames{"non-idempotent"}, "nothing looks whether the order is there when it takes the piece", "扣库存时没有检查订单是否已存在"),
			expectHolds(StepsFrom(0).with("redlock", "local", "optimistic", "late-commit",
				"setnx-expire", "lua-setnx", "getset", "set-expire", "setex"),
				"the ledger knows the order when it comes again: it is not the lock that does it", "第二次到达时账本里已有这个订单：这不是锁的功劳"),
			expectHolds(LockNames{"atomic"}, "its script looks for the order before it takes the piece", "脚本先查订单，再扣库存"),
		},
	}}
}
