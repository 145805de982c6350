package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/watch/witness"
)

// placeTTL is how long a place in the queue is kept, as the lock itself.
const placeTTL = 2 * time.Second

// deadWaiter kills two processes at the head of the queue. The lock is handed to the first, and the second's place is in the way.
func deadWaiter() Lab {
	return Lab{
		Name:  "dead-waiter",
		Claim: language.Both("a waiter that dies holds the others up for one expiry and a quarter at most", "等待者崩溃，别人最多多等一又四分之一个过期时间"),
		Cured: "v9",
		Cure: language.Both(
			"a place in the queue expires unless its process asks again, and a lock that is handed over lasts as long as that place",
			"队列里的位置若不再次询问就会过期；移交的锁与这个位置同时过期"),
		Explore: "--actors 3 --faults crash=1 --anomaly stuck",
		Shop:    Settings{Replicas: 4, TTL: placeTTL, Wait: 8 * time.Second, Think: each(time.Minute, "r1")},
		Scenario: func(s *Stage) {
			first := s.Hold("r1")
			s.Wait("r2")
			s.Wait("r3")
			last := s.Wait("r4")
			s.Kill("r2")
			s.Kill("r3")
			first.Leave()
			s.Finish(first, last)
		},
		Fault:  language.Both("r2 and r3 die while they wait before r4", "排在 r4 前面的 r2 和 r3 在等待时崩溃"),
		Hit:    all(diedWaiting("r2#1"), diedWaiting("r3#1"), askedInTime("r4#1")),
		Proof:  sold("r4#1"),
		Signs:  []witness.FindingKind{witness.WaitedInVain, witness.Idle},
		Blames: idleFor(placeTTL*5/4 + busy),
		Expected: []Expectation{
			holds("v9..", "the lock is handed to the dead, and expires with its place; then the next that lives is the first",
				"锁移交给崩溃者后，随它的位置一起过期；然后轮到下一个存活的"),
			holds("v1..v8 redlock setnx-expire lua-setnx getset late-commit", "there is no queue of processes: who is dead does not ask",
				"进程之间没有队列：崩溃者不会再来问"),
			nobodyWaits(),
		},
	}
}

// diedWaiting reports whether the replica of a sale died while the sale waited for the lock.
func diedWaiting(sale string) Condition {
	dies := is(witness.ReplicaOf(sale), witness.KindDies)
	return all(some(dies), before(dies, all(waits(sale), not(obtains(sale)))))
}
