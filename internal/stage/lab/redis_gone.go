package lab

import (
	"slices"
	"time"

	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// goneWait is how long sales wait for the lock, while Redis is gone and after.
const goneWait = 5 * time.Second

// redisGone ends Redis while a sale holds the lock, and starts it again with what it had: a real one from its append-only file. It is
// gone until every buyer has an answer, which is soon: ten seconds show the same.
func redisGone(s *Stage) {
	first, trap := s.BuyCaught("r1", redisproxy.HoldReply, redisproxy.IsWrite) // r1#1 is sold, and does not know it
	second := s.BuyUntil("r2", "ask for the lock", requested)
	s.Redis.Stop()
	trap.Drop()
	s.Answered(first, second, s.Buy("r2"))
	s.Redis.Start()
	s.Served("r2")
	s.Until("the first sale to end", ended("r1#1"))
	s.LookUp("r2")
}

// soldAfter reports whether the last sale of a replica that ended after something had happened was made.
func soldAfter(kind witness.Kind, replica string) Condition {
	return since(is("", kind), func(events []witness.Event) bool {
		for _, e := range slices.Backward(events) {
			if is(replica, witness.KindEnds)(e) {
				return e.Error == ""
			}
		}
		return false
	})
}
