package lab

import (
	"time"

	"lockstep/internal/watch/witness"
)

// emptyRestartedNode is a Redis that restarts without its content while the lock is held: one of the three nodes that make up redlock's
// majority, or the one Redis that the other locks are on.
func emptyRestartedNode() Lab {
	const forgets, unreached, unreachedToo = 3, 4, 5
	return Lab{
		Name: "empty-restarted-node", Claim: "a Redis that restarts empty does not let a second holder overwrite the first one's sale",
		Shows: "redlock", Cured: "v8",
		Cure: "the lock where the stock is: a Redis that forgets the one forgets the other, and refuses what belongs to a run that is over; " +
			"with redlock, a node must stay away for one expiry before it starts again, or write down every command (appendfsync always)",
		Explores: map[string]string{"redlock": "--faults node-restart=1 --nested 1 --anomaly two-holders"},
		Shop: Settings{
			Replicas: 2, TTL: time.Minute, Wait: 10 * time.Second, Think: each(4*time.Second, "r1"),
			Proxied: []string{"r1"}, NodesProxied: true,
		},
		Scenario: func(s *Stage) {
			node := 0
			if s.onNodes {
				node = forgets
				s.CutNode("r1", unreached)
				s.CutNode("r1", unreachedToo)
			}
			first := s.Buy("r1")
			s.Until("r1#1 to be at work", does("r1#1", witness.Reads, witness.Done))
			s.Restart(node)
			second := s.Buy("r2")
			s.Answered(second, first)
			s.Until("both sales to end", all(ends("r1#1"), ends("r2#1")))
		},
		Fault: "a Redis with the lock restarts empty while the first sale is at work, and both write",
		Hit:   and(happened(witness.KindEmptied), answered("r1#1"), answered("r2#1")),
		Signs: []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			{"redlock", Broken, "the node that has forgotten the first makes a majority for the second, with two that the first did not reach"},
			{
				"v1 v2 v3 v4 v5 v6 v7 v8 v9 v10 late-commit setnx-expire lua-setnx getset", Holds,
				"the stock and its run are forgotten with the lock, so the first one's write is refused",
			},
			{"v0 local atomic optimistic set-expire setex", NA, "there is no lock that one alone holds"},
		},
	}
}
