package lab

import (
	"time"

	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// endlessRenewal is a sale whose buyer has left and whose release is lost: nobody gives the lock back any more, and only its renewal could
// keep it. No step has the flaw that watchdogs are known for: a renewal that outlives its work. Work that goes on for ever keeps its lock
// from v6 on, as it should; here work ends with its request.
func endlessRenewal() Lab {
	return Lab{
		Name: "endless-renewal", Claim: "a lock is not renewed any more once the work is over that it was for",
		Cured:   "v6",
		Cure:    "the renewal belongs to the lease: Unlock ends it first, and only then tries to release the lock; what is not released expires",
		Explore: "--faults lost-request=1 --anomaly goroutine-leak",
		Shop: Settings{
			Replicas: 2, TTL: 1500 * time.Millisecond, Wait: 6 * time.Second, Think: each(time.Minute, "r1"), Proxied: []string{"r1"},
		},
		Scenario: func(s *Stage) {
			trap := s.Catch("r1", redisproxy.LoseRequest, aRelease)
			first := s.Buy("r1")
			s.Until("r1#1 to obtain the lock", obtains("r1#1"))
			second := s.Buy("r2")
			s.Until("r2#1 to wait", waits("r2#1"))
			s.Until("r1 to renew its lock", renews("r1"))
			first.Leave()
			s.UntilCaught("r1", trap, witness.KindLost, ends("r1#1"))
			s.Answered(second)
			s.Until("both sales to end", all(ends("r1#1"), ends("r2#1")))
		},
		Fault: "r1 has renewed its lock, the buyer goes away, and the release is lost",
		Hit:   and(happened(witness.KindLost), renewedInTime("r1#1")),
		Proof: sold("r2#1"),
		Signs: []witness.FindingKind{witness.RenewedOn, witness.WaitedInVain},
		Expected: []Expectation{
			{"v6 v7", Holds, "the renewal ends before the release; then the lock expires"},
			{"v8 v9 v10", Holds, "there is one renewal per holding, and it ends with it"},
			{"v1 v2 v3 v4 v5 setnx-expire lua-setnx getset late-commit", NA, "nothing renews its lock"},
			{"redlock", NA, "the lab loses one release, and each node gets its own"},
			{"v0 local atomic optimistic set-expire setex", NA, "there is no lock that one alone holds"},
		},
	}
}
