package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/watch/witness"
)

// failover kills a master before its replica has heard of the lock. Redlock has no replicas: of its masters, one dies.
func failover() Lab {
	return Lab{
		Name: "failover",
		Claim: language.Both("a master that dies while the lock is held does not let a second holder overwrite the first one's sale",
			"持锁期间主节点崩溃，第二个持有者不会覆盖第一个的写入"),
		Shows: "v10", Cured: "redlock",
		Cure: language.Both(
			"no replica that takes over with less: the lock on independent masters, of which a minority may die; or no lock for what the store "+
				"can compare by itself (optimistic)", "不让数据更少的从节点接管：锁放在多个独立主节点上，少数可以崩溃；或者存储自己能比较的，就不用锁（optimistic）"),
		Explores: map[string]string{
			"v9":      "--faults failover=1 --anomaly lost-update",
			"v10":     "--faults failover=1 --anomaly lost-update",
			"redlock": "--try 2 --faults node-crash=1",
		},
		Real: true,
		Shop: Settings{Think: each(4*time.Second, "r1"), Replicated: true},
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
		Fault: language.Both("a master that has the lock dies while the first sale is at work, and both write", "第一单执行期间，放锁的主节点崩溃，两单都写入"),
		Hit:   all(either(happened(witness.KindFailsOver), happened(witness.KindCrashes)), answered("r1#1"), answered("r2#1")),
		Signs: []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			broken("v1..v6 late-commit setnx-expire lua-setnx getset",
				"the replica takes over and has not heard of the lock: the second gets it, too", "接管的从节点没有收到这把锁：第二单也加锁成功"),
			broken("v7..",
				"the replica has heard neither of the lock nor of the last token: the second gets the same token, and the store takes both",
				"从节点既没有收到锁，也没有收到最新的令牌：第二单得到同样的令牌，存储两个都接受"),
			holds("redlock", "four of five masters still have the lock, and the dead one has no replica that could say otherwise",
				"五个主节点中四个仍有这把锁，崩溃的那个没有从节点可以改口"),
			nobodyHolds(),
		},
	}
}

// emptyRestartedNode restarts a Redis without its content while the lock is held: one of the three nodes that make up redlock's
// majority, or the one Redis that the other locks are on.
func emptyRestartedNode() Lab {
	const forgets, unreached, unreachedToo = 3, 4, 5
	return Lab{
		Name: "empty-restarted-node",
		Claim: language.Both("a Redis that restarts empty does not let a second holder overwrite the first one's sale",
			"Redis 清空重启，第二个持有者不会覆盖第一个的写入"),
		Shows: "redlock", Cured: "v8",
		Cure: language.Both(
			"the lock where the stock is: a Redis that forgets the one forgets the other, and refuses what belongs to a run that is over; with "+
				"redlock, a node must stay away for one expiry before it starts again, or write down every command (appendfsync always)",
			"锁与库存放在一起：Redis 丢了一个也就丢了另一个，并拒绝属于已结束那一轮的写入；使用 redlock 时，节点要停够一个过期时间再重启，或者每条命令都落盘（appendfsync always）"),
		Explores: map[string]string{"redlock": "--faults node-restart=1 --nested 1 --anomaly two-holders"},
		Shop:     Settings{Think: each(4*time.Second, "r1")},
		Scenario: func(s *Stage) {
			if s.onNodes {
				s.CutNode("r1", unreached)
				s.CutNode("r1", unreachedToo)
			}
			first := s.Work("r1")
			s.Restart(s.lockOn(forgets))
			s.Finish(s.Buy("r2"), first)
		},
		Fault: language.Both("a Redis with the lock restarts empty while the first sale is at work, and both write",
			"第一单执行期间，放锁的 Redis 清空重启，两单都写入"),
		Hit:   all(happened(witness.KindEmptied), answered("r1#1"), answered("r2#1")),
		Signs: []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			broken("redlock", "the node that has forgotten the first makes a majority for the second, with two that the first did not reach",
				"忘了第一单的节点，与第一单没有连上的两个节点一起，为第二单凑成多数派"),
			holds("v1.. late-commit setnx-expire lua-setnx getset",
				"the stock and its run are forgotten with the lock, so the first one's write is refused", "库存和这一轮与锁一起丢失，所以第一单的写入被拒绝"),
			nobodyHolds(),
		},
	}
}
