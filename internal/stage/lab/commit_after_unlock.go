package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// commitAfterUnlock shows a sale that writes when it has unlocked, as a transaction around the lock does.
func commitAfterUnlock() Lab {
	return Lab{
		Name:  "commit-after-unlock",
		Claim: language.Both("what was computed under the lock is written under the lock", "在锁内算出的结果，在锁内写入"),
		Shows: "late-commit", Cured: "v4",
		Cure:    language.Both("the transaction belongs inside the lock: commit, then unlock", "事务要放在锁内：先提交，再解锁"),
		Explore: "--anomaly lost-update",
		Shop:    Settings{Replicas: 2, TTL: 10 * time.Second, Wait: 10 * time.Second, Proxied: []string{"r1"}},
		Scenario: func(s *Stage) {
			trap := s.Catch("r1", redisproxy.Hold, redisproxy.IsWrite)
			first := s.Buy("r1")
			s.UntilCaught(trap, ends("r1#1"))
			second := s.Buy("r2")
			s.Until("r2#1 to end, or to find the lock held", either(ends("r2#1"), refused("r2#1")))
			s.Release(trap)
			s.Finish(first, second)
		},
		Fault: language.Both("the write of r1 is on the way while r2 asks, and both write", "r1 的写入还在途中时 r2 来加锁，两单都写入"),
		Hit:   all(happened(witness.KindHeld), answered("r1#1"), answered("r2#1")),
		Signs: []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			broken("late-commit", "it has unlocked, so the next holder reads before it has written", "它已解锁，所以下一个持有者在它写入之前就读了库存"),
			broken("v0 local set-expire setex", "nothing keeps the other out", "没有什么阻止另一单"),
			holds("v1.. redlock setnx-expire lua-setnx getset", "it still holds the lock, so the other waits", "它仍然持有锁，所以另一单等待"),
			holds("atomic optimistic", "the write itself looks at the stock", "写入时会再看库存"),
		},
	}
}
