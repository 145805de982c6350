package lab

import (
	"time"

	"lockstep/internal/watch/witness"
)

// partition is a replica that is cut off from every Redis while its sale holds the lock, for longer than the lock lasts, and then goes on.
func partition() Lab {
	return Lab{
		Name: "partition", Claim: "a holder that was cut off past the expiry of its lock writes nothing when it reaches Redis again",
		Shows: "v5", Cured: "v6",
		Cure:    "one expiry after it last heard of its lock, a holder is told that the lock is lost, and its work is cancelled",
		Explore: "--work 15s --faults lost-request=1 --anomaly lost-update",
		Shop: Settings{
			Replicas: 2, TTL: 1500 * time.Millisecond, Wait: 15 * time.Second, Think: each(6*time.Second, "r1"),
			Proxied: []string{"r1"}, NodesProxied: true,
		},
		Scenario: func(s *Stage) {
			first := s.Buy("r1")
			s.Until("r1#1 to be at work", does("r1#1", witness.Reads, witness.Done))
			s.Cut("r1")
			second := s.Buy("r2")
			s.Answered(second)
			s.Until("r2#1 to end", ends("r2#1"))
			s.Mend("r1")
			s.Answered(first)
			s.Until("r1#1 to end", ends("r1#1"))
		},
		Fault: "r1 is cut off while its sale holds the lock, the other sells, and r1 reaches Redis before its write, or is told first",
		Hit: and(happened(witness.KindCut), happened(witness.KindMend), answered("r2#1"), func(a witness.Account) bool {
			return answered("r1#1")(a) || told(a, "r1#1")
		}),
		Signs: []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			{
				"v2 v3 v4 v5 late-commit setnx-expire lua-setnx getset", Broken,
				"nobody tells the holder, and the store takes a write from anybody",
			},
			{"v6 v7 v8 v9 v10", Holds, "the holder knows when its lock can have expired, and stops"},
			{"redlock", Holds, "the holder knows for how long a majority's word is valid, and stops"},
			{"v1", NA, "its lock never expires: the other waits"},
			{"v0 local atomic optimistic set-expire setex", NA, "it keeps no other process out"},
		},
	}
}
