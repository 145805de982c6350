package lab

import (
	"time"

	"lockstep/internal/watch/witness"
)

// lostUpdateReplicas is the same in two processes.
func lostUpdateReplicas() Lab {
	return Lab{
		Name: "lost-update-replicas", Claim: "what a sale has written, no sale of another process overwrites unread",
		Shows: "local", Cured: "v1",
		Cure:    "a lock in Redis, which all processes ask; a queue in one process knows nothing of the others",
		Explore: "--anomaly lost-update",
		Shop:    Settings{Replicas: 2, TTL: 10 * time.Second, Wait: 10 * time.Second, Think: each(time.Second, "r1", "r2")},
		Scenario: func(s *Stage) {
			first := s.Buy("r1")
			s.Until("r1#1 to obtain the lock", obtains("r1#1"))
			second := s.Buy("r2")
			s.Answered(first, second)
			s.Until("both sales to end", all(ends("r1#1"), ends("r2#1")))
		},
		Fault: "the second sale asks while the first is at work, and both write",
		Hit:   and(askedInTime("r2#1"), answered("r1#1"), answered("r2#1")),
		Signs: []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			{"local", Broken, "each process has a queue of its own"},
			{"v0", Broken, "there is no lock"},
			{"set-expire setex", Broken, "without NX everybody gets the lock"},
			{"v1 v2 v3 v4 v5 v6 v7 v8 v9 v10 redlock setnx-expire lua-setnx getset", Holds, "the second sale waits until the first has written"},
			{"atomic", Holds, "one script reads and writes"},
			{"optimistic", Holds, "the second write is refused, and its sale reads again"},
			{"late-commit", NA, "see commit-after-unlock"},
		},
	}
}
