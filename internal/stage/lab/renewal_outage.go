package lab

import (
	"time"

	"lockstep/internal/watch/witness"
)

// noticed is how late a sale may hear that its lock is lost: a busy machine runs its timers late.
const noticed = 500 * time.Millisecond

// renewalOutage is a holder that cannot reach Redis any more, and so cannot renew its lock.
func renewalOutage() Lab {
	return Lab{
		Name: "renewal-outage", Claim: "a holder that Redis no longer hears stops before another gets the lock",
		Shows: "v5", Cured: "v6",
		Cure:    "a holder counts from when it last asked for a renewal; one expiry later the lock is lost, and the work is cancelled",
		Explore: "--work 15s --anomaly untold",
		Shop: Settings{
			Replicas: 2, TTL: 1500 * time.Millisecond, Wait: 15 * time.Second,
			Think:   map[string]time.Duration{"r1": time.Minute, "r2": time.Second},
			Proxied: []string{"r1"}, NodesProxied: true,
		},
		Scenario: func(s *Stage) {
			s.Buy("r1")
			s.Until("r1#1 to be at work", does("r1#1", witness.Reads, witness.Done))
			s.Cut("r1")
			s.Answered(s.Buy("r2"))
			s.Until("r2#1 to end", ends("r2#1"))
		},
		Fault:  "r1 is cut off from Redis while its sale holds the lock, and the other sells",
		Hit:    and(happened(witness.KindCut), answered("r2#1")),
		Proof:  isTold("r1#1"),
		Signs:  []witness.FindingKind{witness.Together},
		Blames: func(f witness.Finding) bool { return time.Duration(f.For) > noticed },
		Expected: []Expectation{
			{"v2 v3 v4 v5 setnx-expire lua-setnx getset late-commit", Broken, "the holder never learns that its lock has expired"},
			{"v6 v7 v8 v9 v10", Holds, "the holder knows when its lock can have expired, and stops"},
			{"v1", NA, "its lock never expires: the other waits"},
			{"redlock", Holds, "the holder knows for how long a majority's word is valid, and stops"},
			{"v0 local atomic optimistic set-expire setex", NA, "it keeps no other process out"},
		},
	}
}
