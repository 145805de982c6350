package lab

import (
	"time"

	"lockstep/internal/watch/witness"
)

// lostUpdate is two sales of one process that read the same stock.
func lostUpdate() Lab {
	return Lab{
		Name: "lost-update", Claim: "what a sale has written, no other sale overwrites unread",
		Shows: "v0", Cured: "v1",
		Cure:    "a lock: while a sale holds it, no other sale reads the stock",
		Explore: "--anomaly lost-update",
		Shop:    Settings{Replicas: 1, TTL: 10 * time.Second, Wait: 10 * time.Second, Think: each(time.Second, "r1")},
		Scenario: func(s *Stage) {
			first := s.Buy("r1")
			s.Until("r1#1 to obtain the lock", obtains("r1#1"))
			second := s.Buy("r1")
			s.Answered(first, second)
			s.Until("both sales to end", all(ends("r1#1"), ends("r1#2")))
		},
		Fault: "the second sale asks while the first is at work, and both write",
		Hit:   and(askedInTime("r1#2"), answered("r1#1"), answered("r1#2")),
		Signs: []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			{"v0", Broken, "nothing keeps the second sale from reading what the first has not yet replaced"},
			{"set-expire setex", Broken, "without NX everybody gets the lock"},
			{"v1 v2 v3 v4 v5 v6 v7 v8 v9 v10 redlock setnx-expire lua-setnx getset", Holds, "the second sale waits until the first has written"},
			{"local", Holds, "both sales are in one process, so its queue is enough"},
			{"atomic", Holds, "one script reads and writes"},
			{"optimistic", Holds, "the second write is refused, and its sale reads again"},
			{"late-commit", NA, "see commit-after-unlock"},
		},
	}
}
