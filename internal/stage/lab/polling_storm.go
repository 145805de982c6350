package lab

import (
	"time"

	"lockstep/internal/watch/witness"
)

// pollingStorm is a sale that asks for the lock again and again while another process holds it.
func pollingStorm() Lab {
	return Lab{
		Name: "polling-storm", Claim: "a sale that waits does not ask Redis again and again",
		Shows: "v8", Cured: "v9",
		Cure: "a queue of processes in Redis: whoever releases hands the lock to the first, and tells it by a message",
		Shop: Settings{Replicas: 2, TTL: 10 * time.Second, Wait: 10 * time.Second, Think: each(2*time.Second, "r1")},
		Scenario: func(s *Stage) {
			first := s.Buy("r1")
			s.Until("r1#1 to obtain the lock", obtains("r1#1"))
			second := s.Buy("r2")
			s.Answered(first, second)
			s.Until("both sales to end", all(ends("r1#1"), ends("r2#1")))
		},
		Fault: "the second sale asks while the first is at work, and both write",
		Hit:   and(askedInTime("r2#1"), answered("r1#1"), answered("r2#1")),
		Signs: []witness.FindingKind{witness.Polled},
		Expected: []Expectation{
			{"v1 v2 v3 v4 v5 v6 v7 v8 setnx-expire lua-setnx getset late-commit", Broken, "it asks every 20ms"},
			{"v9 v10", Holds, "it asks for a place in the queue, and is told when it is its turn"},
			{"redlock", Broken, "it asks all nodes again every 10 to 20ms"},
			{"v0 local atomic optimistic set-expire setex", NA, "nobody waits for another process"},
		},
	}
}
