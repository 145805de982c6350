package lab

import (
	"time"

	"lockstep/internal/watch/witness"
)

// failover is a master that dies before its replica has heard of the lock. Redlock has no replicas: of its masters, one dies.
func failover() Lab {
	return Lab{
		Name: "failover", Claim: "a master that dies while the lock is held does not let a second holder overwrite the first one's sale",
		Shows: "v10", Cured: "redlock",
		Cure: "no replica that takes over with less: the lock on independent masters, of which a minority may die; " +
			"or no lock for what the store can compare by itself (optimistic)",
		Explores: map[string]string{
			"v9":      "--faults failover=1 --anomaly lost-update",
			"v10":     "--faults failover=1 --anomaly lost-update",
			"redlock": "--try 2 --faults node-crash=1",
		},
		Real: true,
		Shop: Settings{
			Replicas: 2, TTL: time.Minute, Wait: 10 * time.Second, Think: each(4*time.Second, "r1"),
			Proxied: []string{"r1", "r2"}, Replicated: true,
		},
		Scenario: func(s *Stage) {
			die := s.FailOver
			if s.onNodes {
				die = func() { s.Crash(1) }
			} else {
				s.Lag()
			}
			first := s.Buy("r1")
			s.Until("r1#1 to be at work", does("r1#1", witness.Reads, witness.Done))
			die()
			second := s.Buy("r2")
			s.Answered(second, first)
			s.Until("both sales to end", all(ends("r1#1"), ends("r2#1")))
		},
		Fault: "a master that has the lock dies while the first sale is at work, and both write",
		Hit:   and(lostItsMaster, answered("r1#1"), answered("r2#1")),
		Signs: []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			{
				"v1 v2 v3 v4 v5 v6 late-commit setnx-expire lua-setnx getset", Broken,
				"the replica takes over and has not heard of the lock: the second gets it, too",
			},
			{
				"v7 v8 v9 v10", Broken,
				"the replica has heard neither of the lock nor of the last token: the second gets the same token, and the store takes both",
			},
			{"redlock", Holds, "four of five masters still have the lock, and the dead one has no replica that could say otherwise"},
			{"v0 local atomic optimistic set-expire setex", NA, "there is no lock that one alone holds"},
		},
	}
}

// lostItsMaster is a master's having died, with a replica in its place or none.
func lostItsMaster(a witness.Account) bool {
	return happened(witness.KindFailsOver)(a) || happened(witness.KindCrashes)(a)
}
