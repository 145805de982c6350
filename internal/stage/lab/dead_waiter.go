package lab

import (
	"time"

	"lockstep/internal/watch/witness"
)

// deadWaiter kills two processes at the head of the queue. The lock is handed to the first, and the second's place is in the way.
func deadWaiter(s *Stage) {
	first := s.Hold("r1")
	s.Wait("r2")
	s.Wait("r3")
	last := s.Wait("r4")
	s.Kill("r2")
	s.Kill("r3")
	first.Leave()
	s.Finish(first, last)
}

// placeTTL is how long a place in the queue is kept, as the lock itself.
const placeTTL = 2 * time.Second

// diedWaiting reports whether the replica of a sale died while the sale waited for the lock.
func diedWaiting(sale string) Condition {
	dies := is(witness.ReplicaOf(sale), witness.KindDies)
	return all(some(dies), before(dies, all(refused(sale), not(obtained(sale)))))
}
