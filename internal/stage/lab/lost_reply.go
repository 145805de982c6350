package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// lostReply lets a sale take the lock, and never learn it.
func lostReply() Lab {
	return Lab{
		Name:  "lost-reply",
		Claim: language.Both("a lock whose reply is lost is not left behind", "加锁的响应丢失后，锁不会残留"),
		Shows: "v5", Cured: "v6",
		Cure: language.Both("who does not know whether it has the lock gives it back: the owner is known, so that is safe",
			"不确定是否加锁成功时就释放：持有者标识是已知的，所以是安全的"),
		Explore: "--faults lost-reply=1",
		Shop:    Settings{Replicas: 2, TTL: time.Minute, Wait: 2 * time.Second, Proxied: []string{"r1"}},
		Scenario: func(s *Stage) {
			trap := s.Catch("r1", redisproxy.LoseReply, redisproxy.IsTake)
			first := s.Buy("r1")
			s.UntilCaught(trap, ends("r1#1"))
			s.Answered(first)
			s.Finish(s.Buy("r2"))
		},
		Fault: language.Both("Redis takes the lock for r1, and the reply is lost", "Redis 为 r1 加锁成功，但响应丢失"),
		Hit:   happened(witness.KindLost),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain},
		Expected: []Expectation{
			broken("v1", "the value does not say whose the lock is, and it never expires", "值没有说明锁是谁的，而且永不过期"),
			broken("v2 setnx-expire lua-setnx getset", "the value does not say whose the lock is: it stays until it expires", "值没有说明锁是谁的：锁一直留到过期"),
			broken("v5", "it does not give back what it may have: the lock stays until it expires", "它不释放自己可能持有的锁：锁一直留到过期"),
			holds("v3 v4 late-commit", "it gives back what it may have: the value is the owner", "它释放自己可能持有的锁：值就是持有者标识"),
			holds("v6..", "it gives back what it may have", "它释放自己可能持有的锁"),
			notBehindProxy(),
			nothingToWaitFor(),
		},
	}
}
