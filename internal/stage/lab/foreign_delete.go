package lab

import (
	"time"

	"lockstep/internal/watch/witness"
)

// foreignDelete is a holder that works for longer than its lock lasts, and then deletes the next one's.
func foreignDelete() Lab {
	return Lab{
		Name: "foreign-delete", Claim: "nobody removes a lock that is another's",
		Shows: "v2", Cured: "v3",
		Cure:    "the value is the owner: look whose the lock is before deleting it",
		Explore: "--faults expiry=1 --anomaly foreign-release",
		Shop:    Settings{Replicas: 2, TTL: 2 * time.Second, Wait: 10 * time.Second, Think: each(3*time.Second, "r1", "r2")},
		Scenario: func(s *Stage) {
			first := s.Buy("r1")
			s.Until("r1#1 to obtain the lock", obtains("r1#1"))
			second := s.Buy("r2")
			s.Answered(first, second)
			s.Until("both sales to end", all(ends("r1#1"), ends("r2#1")))
		},
		Fault: "the second sale asks while the first is at work", Hit: askedInTime("r2#1"),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.Removed},
		Expected: []Expectation{
			{"v2 lua-setnx setnx-expire", Broken, "DEL deletes the lock, whosever it is by now"},
			{"getset", Broken, "no owner, so the first deletes what the second took over"},
			{"v1", Holds, "a lock that never expires is never another's"},
			{"v3 v4 v5", Holds, "the first finds that the lock is another's, and leaves it alone"},
			{"late-commit", Holds, "v4's lock"},
			{"v6 v7 v8 v9 v10 redlock", Holds, "the first renews its lock, so the second waits"},
			{"v0 local atomic optimistic", NA, "there is no lock in Redis"},
			{"set-expire setex", NA, "everybody gets the lock at any time"},
		},
	}
}
