package lab

import (
	"time"

	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// lateCommand is a command that takes the lock when its sale has long given up.
func lateCommand() Lab {
	return Lab{
		Name: "late-command", Claim: "a command that arrives when its sale has given up does not block the others for ever",
		Shows: "v1", Cured: "v2",
		Cure:    "an expiry in the same command: what arrives late goes by itself, too",
		Explore: "--faults late=1 --anomaly left-behind",
		Shop:    Settings{Replicas: 2, TTL: time.Second, Wait: 5 * time.Second, Proxied: []string{"r1"}},
		Scenario: func(s *Stage) {
			trap := s.Catch("r1", redisproxy.Hold, aTake)
			first := s.Buy("r1")
			s.UntilCaught("r1", trap, witness.KindHeld, ends("r1#1"))
			s.Answered(first) // it gives up
			s.Release("r1", trap)
			s.UntilAnswered(trap)
			s.Answered(s.Buy("r2"))
			s.Until("r2#1 to end", all(ends("r1#1"), ends("r2#1")))
		},
		Fault: "the first sale fails while its command is on the way, and then the command takes the lock",
		Hit: func(a witness.Account) bool {
			return happened(witness.KindFreed)(a) && failed(a, "r1#1") && refused("r2#1")(a.Events)
		},
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain},
		Expected: []Expectation{
			{"v1", Broken, "the lock is nobody's, and never expires"},
			{"setnx-expire", Broken, "its second command was never sent"},
			{"v2 v3 v4 v5 v6 v7 v8 v9 v10 lua-setnx late-commit", Holds, "the lock that nobody has expires"},
			{"getset", Holds, "the value itself is the expiry"},
			{"redlock", NA, "its nodes are not behind the proxy"},
			{"v0 local atomic optimistic set-expire setex", NA, "there is no lock that the other would wait for"},
		},
	}
}
