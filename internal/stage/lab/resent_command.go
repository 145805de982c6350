package lab

import (
	"time"

	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// resentCommand is a command that takes the lock twice: its client got no reply, and sent it again by itself. lockstep's own clients never
// do that (internal/dao/redisclient); go-redis does unless it is told not to. Here the proxy does it in its place.
func resentCommand() Lab {
	return Lab{
		Name: "resent-command", Claim: "a command that the client sends a second time, unasked, is not counted twice",
		Shows: "v5", Cured: "v6",
		Cure:    "the outermost release removes the lock whatever Redis has counted; and clients that repeat nothing (MaxRetries: -1)",
		Explore: "--faults resend=1 --anomaly idle",
		Shop:    Settings{Replicas: 2, TTL: time.Minute, Wait: 2 * time.Second, Proxied: []string{"r1"}},
		Scenario: func(s *Stage) {
			trap := s.Catch("r1", redisproxy.Resend, aTake)
			first := s.Buy("r1")
			s.UntilCaught("r1", trap, witness.KindResent, ends("r1#1"))
			s.Answered(first)
			s.Answered(s.Buy("r2"))
			s.Until("both sales to end", all(ends("r1#1"), ends("r2#1")))
		},
		Fault: "Redis is sent r1's command twice", Hit: happened(witness.KindResent),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain, witness.WaitsForItself},
		Expected: []Expectation{
			{"v1 setnx-expire", Broken, "the second is refused for the first: the sale waits for itself, and its lock never expires"},
			{"v2 v3 v4 late-commit lua-setnx getset", Broken, "the second is refused for the first: the sale waits for itself until it expires"},
			{"v5", Broken, "it is counted twice and given back once: the lock stays until it expires"},
			{"v6 v7", Holds, "it is counted twice; the outermost release gives back all of it"},
			{"v8", Broken, "it is counted twice and given back once: the lock stays until it expires"},
			{"v9 v10", Holds, "the second says what the first has done: the process has the lock"},
			{"redlock", NA, "its nodes are not behind the proxy"},
			{"atomic", NA, "it has no lock; its one command, sent twice, would sell twice"},
			{"v0 local optimistic set-expire setex", NA, "there is no lock that could be counted twice, or refused"},
		},
	}
}
