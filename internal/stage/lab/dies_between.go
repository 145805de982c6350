package lab

import (
	"time"

	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// diesBetween is a replica that is killed between the two commands that take a lock.
func diesBetween() Lab {
	return Lab{
		Name: "dies-between-set-and-expire", Claim: "a process that dies while it takes the lock leaves nothing that stays",
		Shows: "setnx-expire", Cured: "lua-setnx",
		Cure:    "both commands in one script; or SET … NX EX, as v2 does",
		Explore: "--faults crash=1 --anomaly left-behind",
		Shop: Settings{
			Replicas: 2, TTL: time.Second, Wait: 5 * time.Second, Think: each(time.Minute, "r1"), Proxied: []string{"r1"},
		},
		Scenario: func(s *Stage) {
			trap := s.Catch("r1", redisproxy.Hold, anExpiry)
			s.Buy("r1")
			s.UntilCaught("r1", trap, witness.KindHeld, obtains("r1#1"))
			s.Until("r1#1 to take the lock", either(does("r1#1", witness.Takes, witness.Done), obtains("r1#1")))
			s.Kill("r1")
			trap.Drop()
			s.Answered(s.Buy("r2"))
			s.Until("r2#1 to end", ends("r2#1"))
		},
		Fault: "r1 dies while it takes the lock, or right after", Hit: died("r1"),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain},
		Expected: []Expectation{
			{"setnx-expire", Broken, "the lock is there, and its expiry is not yet"},
			{"v1", Broken, "its lock never has an expiry"},
			{"lua-setnx v2 v3 v4 v5 v6 v7 v8 v9 v10 redlock late-commit", Holds, "there is no moment between the two"},
			{"getset", Holds, "the value itself is the expiry"},
			{"v0 local atomic optimistic set-expire setex", NA, "the dead holder leaves nothing that the other would wait for"},
		},
	}
}
