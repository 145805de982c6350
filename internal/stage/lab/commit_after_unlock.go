package lab

import (
	"time"

	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// commitAfterUnlock is a sale that writes when it has unlocked, as a transaction around the lock does.
func commitAfterUnlock() Lab {
	return Lab{
		Name: "commit-after-unlock", Claim: "what was computed under the lock is written under the lock",
		Shows: "late-commit", Cured: "v4",
		Cure:    "the transaction belongs inside the lock: commit, then unlock",
		Explore: "--anomaly lost-update",
		Shop:    Settings{Replicas: 2, TTL: 10 * time.Second, Wait: 10 * time.Second, Proxied: []string{"r1"}},
		Scenario: func(s *Stage) {
			trap := s.Catch("r1", redisproxy.Hold, aWrite)
			first := s.Buy("r1")
			s.UntilCaught("r1", trap, witness.KindHeld, ends("r1#1"))
			second := s.Buy("r2")
			s.Until("r2#1 to end, or to find the lock held", either(ends("r2#1"), refused("r2#1")))
			s.Release("r1", trap)
			s.Answered(first, second)
			s.Until("both sales to end", all(ends("r1#1"), ends("r2#1")))
		},
		Fault: "the write of r1 is on the way while r2 asks, and both write",
		Hit:   and(happened(witness.KindHeld), answered("r1#1"), answered("r2#1")),
		Signs: []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			{"late-commit", Broken, "it has unlocked, so the next holder reads before it has written"},
			{"v0 local set-expire setex", Broken, "nothing keeps the other out"},
			{"v1 v2 v3 v4 v5 v6 v7 v8 v9 v10 redlock setnx-expire lua-setnx getset", Holds, "it still holds the lock, so the other waits"},
			{"atomic optimistic", Holds, "the write itself looks at the stock"},
		},
	}
}
