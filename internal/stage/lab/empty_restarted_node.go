package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/watch/witness"
)

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
		Shop: Settings{
			Replicas: 2, TTL: time.Minute, Wait: 10 * time.Second, Think: each(4*time.Second, "r1"),
			Proxied: []string{"r1"}, NodesProxied: true,
		},
		Scenario: func(s *Stage) {
			node := 0
			if s.onNodes {
				node = forgets
				s.CutNode("r1", unreached)
				s.CutNode("r1", unreachedToo)
			}
			first := s.Work("r1")
			s.Restart(node)
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
