package lab

import (
	"time"

	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// lostReply is a lock that was taken, though its sale never learns it.
func lostReply() Lab {
	return Lab{
		Name: "lost-reply", Claim: "a lock whose reply is lost is not left behind",
		Shows: "v5", Cured: "v6",
		Cure:    "who does not know whether it has the lock gives it back: the owner is known, so that is safe",
		Explore: "--faults lost-reply=1",
		Shop:    Settings{Replicas: 2, TTL: time.Minute, Wait: 2 * time.Second, Proxied: []string{"r1"}},
		Scenario: func(s *Stage) {
			trap := s.Catch("r1", redisproxy.LoseReply, aTake)
			first := s.Buy("r1")
			s.UntilCaught("r1", trap, witness.KindLost, ends("r1#1"))
			s.Answered(first)
			s.Answered(s.Buy("r2"))
			s.Until("r2#1 to end", ends("r2#1"))
		},
		Fault: "Redis takes the lock for r1, and the reply is lost", Hit: happened(witness.KindLost),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain},
		Expected: []Expectation{
			{"v1", Broken, "the value does not say whose the lock is, and it never expires"},
			{"v2 setnx-expire lua-setnx getset", Broken, "the value does not say whose the lock is: it stays until it expires"},
			{"v5", Broken, "it does not give back what it may have: the lock stays until it expires"},
			{"v3 v4 late-commit", Holds, "it gives back what it may have: the value is the owner"},
			{"v6 v7 v8 v9 v10", Holds, "it gives back what it may have"},
			{"redlock", NA, "its nodes are not behind the proxy"},
			{"v0 local atomic optimistic set-expire setex", NA, "there is no lock that the other would wait for"},
		},
	}
}
