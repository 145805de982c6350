package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/watch/witness"
)

// cancelledRequest lets a buyer go away while the sale holds the lock. No step has the flaw: the lease releases with a context of its
// own.
func cancelledRequest() Lab {
	return Lab{
		Name:  "cancelled-request",
		Claim: language.Both("a buyer who goes away does not leave the lock behind", "买家中途离开，锁不会残留"),
		Cured: "v4",
		Cure: language.Both("the release has a context of its own, which no buyer can cancel (context.WithoutCancel)",
			"解锁用自己的 context，买家无法取消它（context.WithoutCancel）"),
		Explore: "--faults cancel=1",
		Shop:    Settings{Wait: 5 * time.Second, Think: each(time.Minute, "r1")},
		Scenario: func(s *Stage) {
			first := s.Hold("r1")
			first.Leave()
			s.Finish(first, s.Buy("r2"))
		},
		Fault: language.Both("the buyer goes away, and the sale ends unsold", "买家离开，这一单没有卖出就结束"),
		Hit:   failed("r1#1"),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain},
		Expected: []Expectation{
			holds("v1.. redlock late-commit setnx-expire lua-setnx getset", "the lock is given back all the same", "锁照样会释放"),
			nothingToWaitFor(),
		},
	}
}
