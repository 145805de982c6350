package lab

import (
	"time"

	"lockstep/internal/watch/witness"
)

// overdueWork is work that takes longer than the lock lasts.
func overdueWork() Lab {
	return Lab{
		Name: "overdue-work", Claim: "whoever works for longer than the expiry keeps its lock",
		Shows: "v5", Cured: "v6",
		Cure:    "renewal: a goroutine sets the expiry again every third of it, as long as the work goes on",
		Explore: "--faults expiry=1 --anomaly two-holders",
		Shop: Settings{
			Replicas: 2, TTL: 2 * time.Second, Wait: 10 * time.Second,
			Think: map[string]time.Duration{"r1": 5 * time.Second, "r2": time.Second},
		},
		Scenario: func(s *Stage) {
			first := s.Buy("r1")
			s.Until("r1#1 to obtain the lock", obtains("r1#1"))
			second := s.Buy("r2")
			s.Answered(first, second)
			s.Until("both sales to end", all(ends("r1#1"), ends("r2#1")))
		},
		Fault: "the second sale asks while the first is at work", Hit: askedInTime("r2#1"),
		Proof: and(sold("r1#1"), keptOutFor(2*time.Second, "r2#1")),
		Signs: []witness.FindingKind{witness.Together, witness.Told},
		Expected: []Expectation{
			{"v2 v3 v4 v5 late-commit setnx-expire lua-setnx getset", Broken, "the lock expires after 2s, and the work takes 5s"},
			{"set-expire setex", Broken, "everybody gets the lock at any time"},
			{"local", Broken, "the other process has a queue of its own"},
			{"v1", Holds, "its lock never expires"},
			{"v6 v7 v8 v9 v10 redlock", Holds, "the holder renews its lock"},
			{"v0 atomic optimistic", NA, "there is no lock"},
		},
	}
}
