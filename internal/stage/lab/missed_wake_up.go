package lab

import (
	"time"

	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// deaf is the expiry of a lock whose hand-over nobody hears.
const deaf = 4 * time.Second

// missedWakeUp is a lock that is handed over while the message that says so is lost.
func missedWakeUp() Lab {
	return Lab{
		Name: "missed-wake-up", Claim: "a waiter whose message is lost goes on within a quarter of the expiry",
		Cured:   "v9",
		Cure:    "a message only saves time: who waits asks again every quarter of the expiry, and then finds that it holds the lock",
		Explore: "--faults lost-wake=1",
		Shop: Settings{
			Replicas: 2, TTL: deaf, Wait: 2 * deaf, Think: each(time.Minute, "r1"), Proxied: []string{"r2"},
		},
		Scenario: func(s *Stage) {
			trap := s.Catch("r2", redisproxy.LoseMessage, aTurn)
			hears, asksAgain := s.Pass("r2", anEar), s.Pass("r2", after(2, aTake)) // it asks once more when it hears
			first := s.Buy("r1")
			s.Until("r1#1 to obtain the lock", obtains("r1#1"))
			second := s.Buy("r2")
			s.UntilAnswered(hears)
			s.UntilAnswered(asksAgain)
			first.Leave()
			s.UntilCaught("r2", trap, witness.KindMessageLost, ends("r2#1"))
			s.Answered(second)
			s.Until("both sales to end", all(ends("r1#1"), ends("r2#1")))
		},
		Fault:  "r1 hands the lock to r2, and the message is lost",
		Hit:    and(happened(witness.KindMessageLost), askedInTime("r2#1")),
		Proof:  sold("r2#1"),
		Signs:  []witness.FindingKind{witness.WaitedInVain, witness.Idle},
		Blames: func(f witness.Finding) bool { return f.Kind != witness.Idle || time.Duration(f.For) > deaf/4+busy },
		Expected: []Expectation{
			{"v9 v10", Holds, "it asks again after a quarter of the expiry"},
			{"v1 v2 v3 v4 v5 v6 v7 v8 redlock setnx-expire lua-setnx getset late-commit", NA, "nobody is told: who waits asks again and again"},
			{"v0 local atomic optimistic set-expire setex", NA, "nobody waits for another process"},
		},
	}
}
