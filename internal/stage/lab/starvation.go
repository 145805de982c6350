package lab

import (
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

const (
	rivals = 6 // sales that ask after the one that is starved
	enough = 4 // overtakes that are too many: v10 has three at most here
)

// starve lets a sale hold the lock until another one waits, and rivals in the holder's process ask after that. The next attempt of the
// one that waits, which next matches, is held until all rivals have had the lock: it comes too late, whatever the lock does. A lock
// that lets it in before, or that needs no attempt, is not late.
func starve(s *Stage, holder, victim string, next func(args []string) bool) {
	theirs, its := witness.ReplicaOf(holder), witness.ReplicaOf(victim)
	late, taken := s.Catch(its, 0, redisproxy.Hold, next), s.Pass(theirs, 0, redisproxy.IsTake)
	first, reading := s.BuyCaught(theirs, redisproxy.Hold, redisproxy.IsRead)
	all := []*Purchase{first, s.Buy(its)}
	s.Until(victim+" to wait", s.waiting(victim))
	if taken.IsCaught() && !s.linesUp(its) { // else it is not by the proxy that one asks for the lock, or not before its turn
		s.UntilCaught(late, obtained(victim))
	}
	others := count(s.collected.Events(), is(theirs, witness.KindAsks))
	for range rivals {
		all = append(all, s.Buy(theirs))
	}
	s.Until("the others to ask", atLeast(others+rivals, theirs, witness.KindAsks))
	s.Release(reading)
	s.Until("the others to obtain the lock", either(atLeast(1+rivals, theirs, witness.KindObtains), obtained(victim), passedOn(theirs)))
	s.Release(late)
	s.Answered(all...)
	s.Until(victim+" to end", ended(victim))
}

// starved blames whoever overtook a sale too often.
func starved(sale string) func(witness.Finding) bool {
	return func(f witness.Finding) bool { return f.By == sale && f.Times > enough }
}

// requestedAfter reports whether so many sales asked for the lock after one that obtained it in the end.
func requestedAfter(sale string, n int) Condition {
	return all(obtained(sale), since(is(sale, witness.KindAsks), atLeast(n, "", witness.KindAsks)))
}
