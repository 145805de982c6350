package lab

import (
	"time"

	"lockstep/internal/watch/witness"
)

// cancelledRequest is a buyer who goes away while the sale holds the lock. No step has the flaw: the lease releases with a context of its
// own.
func cancelledRequest() Lab {
	return Lab{
		Name: "cancelled-request", Claim: "a buyer who goes away does not leave the lock behind",
		Cured:   "v4",
		Cure:    "the release has a context of its own, which no buyer can cancel (context.WithoutCancel)",
		Explore: "--faults cancel=1",
		Shop: Settings{
			Replicas: 2, TTL: time.Minute, Wait: 5 * time.Second, Think: map[string]time.Duration{"r1": time.Minute},
		},
		Scenario: func(s *Stage) {
			first := s.Buy("r1")
			s.Until("r1#1 to obtain the lock", obtains("r1#1"))
			first.Leave()
			s.Answered(s.Buy("r2"))
			s.Until("both sales to end", all(ends("r1#1"), ends("r2#1")))
		},
		Fault: "the buyer goes away, and the sale ends unsold", Hit: func(a witness.Account) bool { return failed(a, "r1#1") },
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain},
		Expected: []Expectation{
			{"v1 v2 v3 v4 v5 v6 v7 v8 v9 v10 redlock late-commit setnx-expire lua-setnx getset", Holds, "the lock is given back all the same"},
			{"v0 local atomic optimistic set-expire setex", NA, "there is no lock that the other would wait for"},
		},
	}
}
