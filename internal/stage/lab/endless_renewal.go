package lab

import (
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// endlessRenewal lets a buyer leave and loses the release of the sale: nobody gives the lock back any more, and only its renewal could
// keep it. No step has the flaw that watchdogs are known for: a renewal that outlives its work. Work that goes on for ever keeps its lock
// from v6 on, as it should; here work ends with its request.
func endlessRenewal(s *Stage) {
	trap := s.Catch("r1", 0, redisproxy.LoseRequest, redisproxy.IsRelease)
	first := s.Hold("r1")
	second := s.Wait("r2")
	s.Until("r1 to renew its lock", renewed("r1"))
	first.Leave()
	s.UntilCaught(trap, ended("r1#1"))
	s.Finish(first, second)
}

// renewedInTime reports whether a replica renewed its lock before one of its sales ended.
func renewedInTime(sale string) Condition {
	return all(ended(sale), before(is(sale, witness.KindEnds), renewed(witness.ReplicaOf(sale))))
}
