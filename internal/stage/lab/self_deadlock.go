package lab

import (
	"time"

	"lockstep/internal/watch/witness"
)

// selfDeadlock is a nested call that takes the lock its caller has.
func selfDeadlock() Lab {
	return Lab{
		Name: "self-deadlock", Claim: "a nested call gets the lock that its caller holds",
		Shows: "v4", Cured: "v5",
		Cure:    "a hash of owner and count: whoever holds the lock may take it once more",
		Explore: "--nested 1",
		Shop:    Settings{Replicas: 1, TTL: time.Minute, Wait: time.Second, Nested: 1},
		Scenario: func(s *Stage) {
			s.Answered(s.Buy("r1"))
			s.Until("r1#1 to end", ends("r1#1"))
		},
		Fault: "a sale makes a nested call", Hit: func(a witness.Account) bool { return count(a, "r1#1", witness.KindAsks) == 2 },
		Proof: sold("r1#1"),
		Signs: []witness.FindingKind{witness.WaitsForItself},
		Expected: []Expectation{
			{"v1 v2 v3 v4 late-commit setnx-expire lua-setnx getset", Broken, "the nested call finds the lock held, and waits: for its own caller"},
			{"local", Broken, "the nested call stands in the queue behind its own caller"},
			{"v5 v6 v7", Holds, "the nested call has the same owner, and is counted"},
			{"v8 v9 v10 redlock", Holds, "the process knows that the owner has the lock"},
			{"v0 atomic optimistic set-expire setex", Holds, "nobody ever waits"},
		},
	}
}
