package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// slowNode keeps the command for the lock from a Redis: one of redlock's nodes, or the one Redis that the other locks are on.
func slowNode() Lab {
	return Lab{
		Name:  "slow-node",
		Claim: language.Both("one Redis that does not answer in time does not keep a sale from the lock", "一个 Redis 没有及时响应，不妨碍下单拿到锁"),
		Shows: "v8", Cured: "redlock",
		Cure: language.Both("the lock on a majority of independent masters: a twentieth of the expiry for each, and a minority may be late",
			"锁在多数独立主节点上：每个节点最多等二十分之一个过期时间，少数可以迟到"),
		Explores: map[string]string{"redlock": "--try 2 --faults node-hang=1"},
		Shop:     Settings{Replicas: 1, TTL: 10 * time.Second},
		Scenario: func(s *Stage) {
			node := s.lockOn(1)
			trap := s.Catch("r1", node, redisproxy.Hold, redisproxy.IsTake)
			only := s.Buy("r1")
			s.UntilCaught(trap, ends("r1#1"))
			s.Finish(only)
			s.Release(trap)
			s.UntilAnswered(trap)
			if s.onNodes {
				removes := commands("r1#1", witness.Removes, "")
				s.Until("the late node to be given back", some(func(e witness.Event) bool { return e.Node == node && removes(e) }))
			}
		},
		Fault: language.Both("the command for the lock is held until the sale has ended", "加锁命令被扣留，直到这一单结束"),
		Hit:   happened(witness.KindHeld),
		Proof: sold("r1#1"),
		Signs: []witness.FindingKind{witness.Unanswered},
		Expected: []Expectation{
			broken("v1.. late-commit setnx-expire lua-setnx getset set-expire setex",
				"there is one Redis to ask: the sale waits for it until the client gives up", "只有一个 Redis 可问：这一单一直等到客户端放弃"),
			holds("redlock", "four of five nodes answer, and the late one is waited for no longer than a twentieth of the expiry",
				"五个节点中四个有响应，迟到的那个最多等二十分之一个过期时间"),
			notInRedis(),
		},
	}
}
