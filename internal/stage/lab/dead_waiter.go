package lab

import (
	"time"

	"lockstep/internal/watch/witness"
)

const (
	placeTTL = 2 * time.Second // how long a place in the queue is kept, as the lock itself
	busy     = 2 * time.Second // that a busy machine may take longer
)

// deadWaiter is two processes that die at the head of the queue. The lock is handed to the first, and the second's place is in the way.
func deadWaiter() Lab {
	return Lab{
		Name: "dead-waiter", Claim: "a waiter that dies holds the others up for one expiry and a quarter at most",
		Cured:   "v9",
		Cure:    "a place in the queue expires unless its process asks again, and a lock that is handed over lasts as long as that place",
		Explore: "--actors 3 --faults crash=1 --anomaly stuck",
		Shop:    Settings{Replicas: 4, TTL: placeTTL, Wait: 8 * time.Second, Think: each(time.Minute, "r1")},
		Scenario: func(s *Stage) {
			first := s.Buy("r1")
			s.Until("r1#1 to obtain the lock", obtains("r1#1"))
			for _, replica := range []string{"r2", "r3"} {
				s.Buy(replica)
				s.Until(replica+"#1 to wait", waits(replica+"#1"))
			}
			last := s.Buy("r4")
			s.Until("r4#1 to wait", waits("r4#1"))
			s.Kill("r2")
			s.Kill("r3")
			first.Leave()
			s.Answered(last)
			s.Until("r1#1 and r4#1 to end", all(ends("r1#1"), ends("r4#1")))
		},
		Fault: "r2 and r3 die while they wait before r4",
		Hit:   and(diedWaiting("r2#1"), diedWaiting("r3#1"), askedInTime("r4#1")),
		Proof: sold("r4#1"),
		Signs: []witness.FindingKind{witness.WaitedInVain, witness.Idle},
		Blames: func(f witness.Finding) bool {
			return f.Kind != witness.Idle || time.Duration(f.For) > placeTTL*5/4+busy
		},
		Expected: []Expectation{
			{"v9 v10", Holds, "the lock is handed to the dead, and expires with its place; then the next that lives is the first"},
			{
				"v1 v2 v3 v4 v5 v6 v7 v8 redlock setnx-expire lua-setnx getset late-commit", Holds,
				"there is no queue of processes: who is dead does not ask",
			},
			{"v0 local atomic optimistic set-expire setex", NA, "nobody waits for another process"},
		},
	}
}
