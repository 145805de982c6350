package lab

import (
	"time"

	"lockstep/internal/watch/witness"
)

// holderDies is a replica that is killed while it holds the lock.
func holderDies() Lab {
	return Lab{
		Name: "holder-dies", Claim: "a holder that dies does not block the others for ever",
		Shows: "v1", Cured: "v2",
		Cure:    "an expiry in the same command: SET … EX … NX",
		Explore: "--faults crash=1 --anomaly left-behind",
		Shop:    Settings{Replicas: 2, TTL: time.Second, Wait: 5 * time.Second, Think: each(time.Minute, "r1")},
		Scenario: func(s *Stage) {
			s.Buy("r1")
			s.Until("r1#1 to obtain the lock", obtains("r1#1"))
			s.Kill("r1")
			s.Answered(s.Buy("r2"))
			s.Until("r2#1 to end", ends("r2#1"))
		},
		Fault: "r1 dies while its sale holds the lock", Hit: died("r1"),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain},
		Expected: []Expectation{
			{"v1", Broken, "nobody removes the dead holder's lock"},
			{"v2 v3 v4 v5 v6 v7 v8 v9 v10 redlock late-commit setnx-expire lua-setnx", Holds, "the lock expires; then the other gets it"},
			{"getset", Holds, "the other finds the expiry in the past, and takes the lock over"},
			{"v0 local atomic optimistic set-expire setex", NA, "the dead holder leaves nothing that the other would wait for"},
		},
	}
}
