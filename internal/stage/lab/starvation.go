package lab

import (
	"time"

	"lockstep/internal/watch/witness"
)

// starvation is a sale whose attempts come too late, while other sales of its process come and go.
func starvation() Lab {
	return Lab{
		Name: "starvation", Claim: "a sale is not overtaken again and again by later sales of its own process",
		Shows: "v7", Cured: "v8",
		Cure:    "a queue inside the process: first come, first served",
		Explore: "--sales 3 --replicas 1 --anomaly starved",
		Shop:    Settings{Replicas: 1, TTL: time.Minute, Wait: 10 * time.Second, Proxied: []string{"r1"}},
		Scenario: func(s *Stage) {
			s.starve("r1#1", "r1#2", after(2, aTake))
		},
		Fault: "the next attempt of the second sale is held on its way, and others ask after it",
		Hit:   askedAfter("r1#2", rivals), Signs: []witness.FindingKind{witness.Overtaken}, Blames: starved("r1#2"),
		Expected: []Expectation{
			{
				"v1 v2 v3 v4 v5 v6 v7 setnx-expire lua-setnx getset late-commit", Broken,
				"everybody asks now and then, and gets the lock by chance",
			},
			{"v8 v9 v10 redlock local", Holds, "the sales of a process stand in a queue"},
			{"v0 atomic optimistic set-expire setex", NA, "nobody waits"},
		},
	}
}
