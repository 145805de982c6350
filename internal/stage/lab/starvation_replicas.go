package lab

import (
	"time"

	"lockstep/internal/watch/witness"
)

// starvationReplicas is the same between two processes.
func starvationReplicas() Lab {
	return Lab{
		Name: "starvation-replicas", Claim: "a sale is not overtaken again and again by later sales of another process",
		Shows: "v8", Cured: "v9",
		Cure:    "a queue of processes in Redis: a process hands the lock to as many of its own sales as is fair, and then to the next process",
		Explore: "--actors 4 --anomaly starved",
		Shop:    Settings{Replicas: 2, TTL: time.Minute, Wait: 10 * time.Second, Proxied: []string{"r1", "r2"}},
		Scenario: func(s *Stage) {
			s.starve("r2#1", "r1#1", after(1, aTake))
		},
		Fault: "the next attempt of r1's sale is held on its way, and sales of r2 ask after it",
		Hit:   askedAfter("r1#1", rivals), Signs: []witness.FindingKind{witness.Overtaken}, Blames: starved("r1#1"),
		Expected: []Expectation{
			{"v1 v2 v3 v4 v5 v6 v7 setnx-expire lua-setnx getset late-commit", Broken, "whoever asks at the right moment gets the lock"},
			{"v8 redlock", Broken, "the other process hands the lock to its own sales, and this one asks now and then"},
			{"v9 v10", Holds, "a process that others wait for hands the lock to its own sales three times at most, if nobody waited when it got it"},
			{"v0 local atomic optimistic set-expire setex", NA, "nobody waits for another process"},
		},
	}
}
