package lab

import (
	"time"

	"lockstep/internal/watch/witness"
)

// clockSkew is a replica whose clock is ahead.
func clockSkew() Lab {
	return Lab{
		Name: "clock-skew", Claim: "a wrong clock does not give the lock to two",
		Shows: "getset", Cured: "v2",
		Cure:    "let Redis count the time: SET … EX",
		Explore: "--skew 15s --anomaly two-holders",
		Shop: Settings{
			Replicas: 2, TTL: time.Minute, Wait: 10 * time.Second, Think: each(time.Second, "r1", "r2"), Ahead: each(time.Hour, "r2"),
		},
		Scenario: func(s *Stage) {
			first := s.Buy("r1")
			s.Until("r1#1 to obtain the lock", obtains("r1#1"))
			second := s.Buy("r2")
			s.Answered(first, second)
			s.Until("both sales to end", all(ends("r1#1"), ends("r2#1")))
		},
		Fault: "the second sale, an hour ahead, asks while the first is at work", Hit: askedInTime("r2#1"),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.Together},
		Expected: []Expectation{
			{"getset", Broken, "by the clock of r2 the lock has expired long ago"},
			{"v1 v2 v3 v4 v5 v6 v7 v8 v9 v10 redlock late-commit setnx-expire lua-setnx", Holds, "only durations are measured by the own clock"},
			{"v0 local atomic optimistic set-expire setex", NA, "it keeps no other process out"},
		},
	}
}
