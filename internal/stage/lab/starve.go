package lab

import (
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

const (
	rivals = 6 // sales that ask after the one that is starved
	enough = 4 // overtakes that are too many: v9 has three at most here
)

// starve lets a sale hold the lock until another one waits, and rivals in the holder's process ask after that. The next attempt of the
// one that waits, which next matches, is held until all rivals have had the lock: it comes too late, whatever the lock does. A lock
// that lets it in before, or that needs no attempt, is not late.
func (s *Stage) starve(holder, victim string, next func(args []string) bool) {
	theirs, its := witness.ReplicaOf(holder), witness.ReplicaOf(victim)
	reading, late := s.Catch(theirs, redisproxy.Hold, aRead), s.Catch(its, redisproxy.Hold, next)
	taken := s.Pass(theirs, aTake)
	all := []*Purchase{s.Buy(theirs)}
	s.UntilCaught(theirs, reading, witness.KindHeld, ends(holder))
	all = append(all, s.Buy(its))
	s.Until(victim+" to wait", waits(victim))
	if isCaught(taken) { // else it is not by the proxy that one asks for the lock
		s.UntilCaught(its, late, witness.KindHeld, queues(its))
	}
	others := s.inReplica(theirs)
	for range rivals {
		all = append(all, s.Buy(theirs))
	}
	s.Until("the others to ask", asked(theirs, others+rivals))
	s.Release(theirs, reading)
	s.Until("the others to obtain the lock", either(obtained(theirs, 1+rivals), obtains(victim), handsOn(theirs)))
	s.Release(its, late)
	s.Answered(all...)
	s.Until(victim+" to end", ends(victim))
}

// inReplica is how many sales of a replica have asked so far.
func (s *Stage) inReplica(replica string) int {
	return howMany(s.collected.Events(), replica, witness.KindAsks)
}

// starved is a sale's having been overtaken too often.
func starved(sale string) func(witness.Finding) bool {
	return func(f witness.Finding) bool { return f.By == sale && f.Times > enough }
}
