package lab

import (
	"time"

	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// redisGone is a Redis that ends while a sale holds the lock, and comes back with what it had: a real one from its append-only file. It is
// gone until every buyer has an answer, which is soon: ten seconds show the same.
func redisGone() Lab {
	const wait = 5 * time.Second
	return Lab{
		Name:  "redis-gone",
		Claim: "while Redis is gone, each buyer is soon told the truth; when it is back, sales go on",
		Shows: "v1", Cured: "v2",
		Cure:    "an expiry: a lock that its holder could not give back goes by itself",
		Explore: "--faults lost-request=1 --anomaly left-behind",
		Shop:    Settings{Replicas: 2, TTL: 2 * time.Second, Wait: wait, Proxied: []string{"r1", "r2"}, Durable: true},
		Scenario: func(s *Stage) {
			trap := s.Catch("r1", redisproxy.HoldReply, aWrite)
			first := s.Buy("r1")
			s.UntilCaught("r1", trap, witness.KindUnheard, ends("r1#1")) // r1#1 is sold, and does not know it
			second := s.Buy("r2")
			s.Until("r2#1 to ask for the lock", moment("r2#1", witness.KindAsks))
			s.RedisEnds()
			trap.Drop()
			s.Answered(first, second, s.Buy("r2"))
			s.RedisBegins()
			s.Served("r2")
			s.Until("the first sale to end", ends("r1#1"))
			s.LookUp("r2")
		},
		Fault: "Redis is gone when r1 is to hear that it has written, and comes back",
		Hit: func(a witness.Account) bool {
			return happened(witness.KindRedisEnds)(a) && happened(witness.KindRedisBegins)(a) && failed(a, "r1#1")
		},
		Proof: soldAfter(witness.KindRedisBegins, "r2"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain, witness.SoldUntold, witness.NeverBooked},
		Blames: func(f witness.Finding) bool { // whoever was told at once that Redis is gone did not wait in vain for the lock
			return f.Kind != witness.WaitedInVain || time.Duration(f.For) >= wait
		},
		Expected: []Expectation{
			{"v1", Broken, "the holder could not give its lock back, and it never expires"},
			{"v2 v3 v4 v5 v6 v7 v8 v9 v10 setnx-expire lua-setnx", Holds, "the lock that nobody could give back expires; then sales go on"},
			{"getset", Holds, "the other finds the expiry in the past, and takes the lock over"},
			{"late-commit", Holds, "it had given its lock back before it wrote"},
			{"redlock", Holds, "its lock is on other nodes, which are there: it is given back"},
			{"v0 local atomic optimistic set-expire setex", Holds, "there is no lock that anybody would wait for; the buyer in doubt is told so"},
		},
	}
}
