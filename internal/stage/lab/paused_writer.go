package lab

import (
	"time"

	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// pausedWriter is a holder that is stopped, with its write on the way, until another has sold.
func pausedWriter() Lab {
	return Lab{
		Name: "paused-writer", Claim: "a holder that was stopped past the expiry of its lock writes nothing",
		Shows: "v6", Cured: "v7",
		Cure:    "a fencing token: the store refuses a write with a smaller one than it has seen",
		Explore: "--faults pause=1,expiry=1 --anomaly lost-update",
		Unix:    true,
		Shop:    Settings{Replicas: 2, TTL: time.Second, Wait: 10 * time.Second, Proxied: []string{"r1"}},
		Scenario: func(s *Stage) {
			trap := s.Catch("r1", redisproxy.Hold, aWrite)
			first := s.Buy("r1")
			s.UntilCaught("r1", trap, witness.KindHeld, ends("r1#1"))
			s.Stop("r1")
			second := s.Buy("r2")
			s.Answered(second)
			s.Until("r2#1 to end", ends("r2#1"))
			s.Release("r1", trap)
			s.GoOn("r1")
			s.Answered(first)
			s.Until("r1#1 to end", ends("r1#1"))
		},
		Fault: "r1 is stopped while its write is on the way, the other sells, and then the write arrives",
		Hit:   and(happened(witness.KindStops), answered("r2#1"), answered("r1#1")),
		Signs: []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			{"v2 v3 v4 v5 v6 setnx-expire lua-setnx", Broken, "a stopped process renews nothing, and the store takes a write from anybody"},
			{"redlock", Broken, "it has no fencing token"},
			{"v0 local set-expire setex", Broken, "nothing keeps the other out"},
			{"v7 v8 v9 v10", Holds, "the store has seen the next holder's token, and refuses the old one"},
			{"atomic optimistic", Holds, "the write itself looks at the stock"},
			{"v1", NA, "its lock never expires: the other waits"},
			{"getset", NA, "its lock changes hands by the client's clock"},
			{"late-commit", NA, "it has unlocked by then: see commit-after-unlock"},
		},
	}
}
