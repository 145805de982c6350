package lab

import (
	"time"

	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// checkThenDelete is a release that is slow on its way: the lock changes hands between the look and the delete.
func checkThenDelete() Lab {
	return Lab{
		Name: "check-then-delete", Claim: "a release that arrives late does not remove another's lock",
		Shows: "v3", Cured: "v4",
		Cure:    "compare and delete in one script: nothing can come between",
		Explore: "--faults expiry=1 --anomaly foreign-release",
		Shop: Settings{
			Replicas: 2, TTL: time.Second, Wait: 10 * time.Second, Think: each(500*time.Millisecond, "r2"), Proxied: []string{"r1"},
		},
		Scenario: func(s *Stage) {
			trap := s.Catch("r1", redisproxy.Hold, aRelease)
			first := s.Buy("r1")
			s.UntilCaught("r1", trap, witness.KindHeld, ends("r1#1"))
			second := s.Buy("r2")
			s.Until("r2#1 to obtain the lock", obtains("r2#1"))
			s.Release("r1", trap)
			s.UntilAnswered(trap)
			s.Answered(first, second)
			s.Until("both sales to end", all(ends("r1#1"), ends("r2#1")))
		},
		Fault: "the release is held until another has the lock", Hit: freedInside("r2#1"),
		Signs: []witness.FindingKind{witness.Removed},
		Expected: []Expectation{
			{"v3", Broken, "its GET said that the lock was its own; when the DEL arrives, it is another's"},
			{"v2 lua-setnx setnx-expire", Broken, "the DEL does not ask whose the lock is"},
			{"v4 v5 v6 v7 v8 v9 late-commit", Holds, "the script compares when it arrives"},
			{"v1", NA, "its lock never expires, so it never changes hands before the DEL"},
			{"v10", NA, "a sale sends no release when nobody waits"},
			{"redlock", NA, "its nodes are not behind the proxy"},
			{"getset", NA, "its lock changes hands by the client's clock"},
			{"v0 local atomic optimistic set-expire setex", NA, "there is no lock that one alone holds"},
		},
	}
}
