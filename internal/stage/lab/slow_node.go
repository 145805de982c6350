package lab

import (
	"time"

	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// slowNode is a Redis that gets the command for the lock late: one of redlock's nodes, or the one Redis that the other locks are on.
func slowNode() Lab {
	return Lab{
		Name: "slow-node", Claim: "one Redis that does not answer in time does not keep a sale from the lock",
		Shows: "v8", Cured: "redlock",
		Cure:     "the lock on a majority of independent masters: a twentieth of the expiry for each, and a minority may be late",
		Explores: map[string]string{"redlock": "--try 2 --faults node-hang=1"},
		Shop:     Settings{Replicas: 1, TTL: 10 * time.Second, Wait: 10 * time.Second, Proxied: []string{"r1"}, NodesProxied: true},
		Scenario: func(s *Stage) {
			node := 0
			if s.onNodes {
				node = 1
			}
			trap := s.CatchOn("r1", node, redisproxy.Hold, aTake)
			only := s.Buy("r1")
			s.UntilCaughtOn("r1", node, trap, witness.KindHeld, ends("r1#1"))
			s.Answered(only)
			s.Until("r1#1 to end", ends("r1#1"))
			s.ReleaseOn("r1", node, trap)
			s.UntilAnswered(trap)
			if s.onNodes {
				s.Until("the late node to be given back", doesOn(node, "r1#1", witness.Removes))
			}
		},
		Fault: "the command for the lock is held until the sale has ended", Hit: happened(witness.KindHeld),
		Proof: sold("r1#1"),
		Signs: []witness.FindingKind{witness.Unanswered},
		Expected: []Expectation{
			{
				"v1 v2 v3 v4 v5 v6 v7 v8 v9 v10 late-commit setnx-expire lua-setnx getset set-expire setex", Broken,
				"there is one Redis to ask: the sale waits for it until the client gives up",
			},
			{"redlock", Holds, "four of five nodes answer, and the late one is waited for no longer than a twentieth of the expiry"},
			{"v0 local atomic optimistic", NA, "there is no lock in Redis"},
		},
	}
}
