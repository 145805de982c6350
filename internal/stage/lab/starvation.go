package lab

import (
	"lockstep/internal/language"
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// starvation lets the attempts of a sale come too late, while other sales of its process come and go.
func starvation() Lab {
	return Lab{
		Name:  "starvation",
		Claim: language.Both("a sale is not overtaken again and again by later sales of its own process", "一单不会反复被本进程中后来的单超过"),
		Shows: "v7", Cured: "v8",
		Cure:    language.Both("a queue inside the process: first come, first served", "进程内队列：先来先得"),
		Explore: "--sales 3 --replicas 1 --anomaly starved",
		Shop:    Settings{Replicas: 1},
		Scenario: func(s *Stage) {
			s.starve("r1#1", "r1#2", redisproxy.After(2, redisproxy.IsTake))
		},
		Fault: language.Both("the next attempt of the second sale is held on its way, and others ask after it", "第二单的下一次尝试被扣在途中，别的单在它之后来加锁"),
		Hit:   askedAfter("r1#2", rivals), Signs: []witness.FindingKind{witness.Overtaken}, Blames: starved("r1#2"),
		Expected: []Expectation{
			broken("v1..v7 setnx-expire lua-setnx getset late-commit", "everybody asks now and then, and gets the lock by chance",
				"各自隔一会儿问一次，碰运气得到锁"),
			holds("v8.. redlock local", "the sales of a process stand in a queue", "同一进程的各单排队"),
			without("v0 atomic optimistic set-expire setex", "nobody waits", "没有人等待"),
		},
	}
}

// starvationReplicas does the same between two processes.
func starvationReplicas() Lab {
	return Lab{
		Name:  "starvation-replicas",
		Claim: language.Both("a sale is not overtaken again and again by later sales of another process", "一单不会反复被另一个进程中后来的单超过"),
		Shows: "v8", Cured: "v9",
		Cure: language.Both(
			"a queue of processes in Redis: a process hands the lock to as many of its own sales as is fair, and then to the next process",
			"Redis 里的进程队列：一个进程先移交给自己的若干单（次数有公平的上限），再移交给下一个进程"),
		Explore: "--actors 4 --anomaly starved",
		Scenario: func(s *Stage) {
			s.starve("r2#1", "r1#1", redisproxy.After(1, redisproxy.IsTake))
		},
		Fault: language.Both("the next attempt of r1's sale is held on its way, and sales of r2 ask after it", "r1 的一单的下一次尝试被扣在途中，r2 的单在它之后来加锁"),
		Hit:   askedAfter("r1#1", rivals), Signs: []witness.FindingKind{witness.Overtaken}, Blames: starved("r1#1"),
		Expected: []Expectation{
			broken("v1..v7 setnx-expire lua-setnx getset late-commit", "whoever asks at the right moment gets the lock", "谁问得正是时候谁得到锁"),
			broken("v8 redlock", "the other process hands the lock to its own sales, and this one asks now and then", "另一个进程把锁移交给自己的单，这一单隔一会儿才问一次"),
			holds("v9..", "a process that others wait for hands the lock to its own sales three times at most, if nobody waited when it got it",
				"有别的进程等待时，一个进程最多移交给自己的单三次（如果它拿到锁时没有人等待）"),
			nobodyWaits(),
		},
	}
}

const (
	rivals = 6 // sales that ask after the one that is starved
	enough = 4 // overtakes that are too many: v9 has three at most here
)

// starve lets a sale hold the lock until another one waits, and rivals in the holder's process ask after that. The next attempt of the
// one that waits, which next matches, is held until all rivals have had the lock: it comes too late, whatever the lock does. A lock
// that lets it in before, or that needs no attempt, is not late.
func (s *Stage) starve(holder, victim string, next func(args []string) bool) {
	theirs, its := witness.ReplicaOf(holder), witness.ReplicaOf(victim)
	late, taken := s.Catch(its, 0, redisproxy.Hold, next), s.Pass(theirs, 0, redisproxy.IsTake)
	first, reading := s.BuyCaught(theirs, redisproxy.Hold, redisproxy.IsRead)
	all := []*Purchase{first, s.Buy(its)}
	s.Until(victim+" to wait", waits(victim))
	if taken.IsCaught() { // else it is not by the proxy that one asks for the lock
		s.UntilCaught(late, queues(its))
	}
	others := count(s.collected.Events(), is(theirs, witness.KindAsks))
	for range rivals {
		all = append(all, s.Buy(theirs))
	}
	s.Until("the others to ask", atLeast(others+rivals, theirs, witness.KindAsks))
	s.Release(reading)
	s.Until("the others to obtain the lock", either(atLeast(1+rivals, theirs, witness.KindObtains), obtains(victim), handsOn(theirs)))
	s.Release(late)
	s.Answered(all...)
	s.Until(victim+" to end", ends(victim))
}

// starved blames whoever overtook a sale too often.
func starved(sale string) func(witness.Finding) bool {
	return func(f witness.Finding) bool { return f.By == sale && f.Times > enough }
}

// askedAfter reports whether so many sales asked for the lock after one that obtained it in the end.
func askedAfter(sale string, n int) Condition {
	return all(obtains(sale), since(is(sale, witness.KindAsks), atLeast(n, "", witness.KindAsks)))
}
