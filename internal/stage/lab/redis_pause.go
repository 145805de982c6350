package lab

import (
	"time"

	"lockstep/internal/watch/witness"
)

// redisPause is a Redis that hangs past the expiry of a lock, in the middle of a sale: by CLIENT PAUSE, or behind the proxies.
func redisPause() Lab {
	return Lab{
		Name: "redis-pause", Claim: "a holder whose lock expires while Redis hangs is told before another gets it",
		Shows: "v5", Cured: "v6",
		Cure:    "the holder counts the expiry by its own clock, from when it sent the last renewal: it needs no answer to know",
		Explore: "--faults expiry=1 --anomaly untold",
		Shop: Settings{
			Replicas: 2, TTL: 1500 * time.Millisecond, Wait: 10 * time.Second,
			Think: map[string]time.Duration{"r1": time.Minute, "r2": time.Second}, Proxied: []string{"r1", "r2"},
		},
		Scenario: func(s *Stage) {
			s.Buy("r1")
			s.Until("r1#1 to be at work", does("r1#1", witness.Reads, witness.Done))
			s.RedisHangs(2500 * time.Millisecond) // less than a client waits for a reply
			s.Served("r2")
		},
		Fault:  "Redis hangs while r1's sale is at work, and then the other sells",
		Hit:    and(happened(witness.KindRedisHangs), soldBy("r2")),
		Proof:  isTold("r1#1"),
		Signs:  []witness.FindingKind{witness.Together},
		Blames: func(f witness.Finding) bool { return time.Duration(f.For) > noticed },
		Expected: []Expectation{
			{"v2 v3 v4 v5 setnx-expire lua-setnx getset late-commit", Broken, "the holder asks Redis nothing, and nobody tells it"},
			{"v6 v7 v8 v9 v10", Holds, "a renewal without an answer does not count: the holder stops in time"},
			{"v1", NA, "its lock never expires: the other waits"},
			{"redlock", NA, "its nodes do not hang with the Redis of the stock: see slow-node"},
			{"v0 local atomic optimistic set-expire setex", NA, "it keeps no other process out"},
		},
	}
}
