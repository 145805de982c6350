package variants

import "lockstep/internal/explore"

// rightShared are right semaphores of 2 and read-write locks. A semaphore guards a sale that needs no lock.
func rightShared() []Variant {
	three, four := explore.Scenario{Actors: 3}, explore.Scenario{Actors: 4}
	const noScope = "no Scope says that two may hold it"
	const otherKey = "who holds is known from opts.Key alone, so a reader, who counts in another key, has lost the lock untold"
	return []Variant{
		{Name: "a semaphore, two", Lock: atomically(polls(semaphore)), Gap: Gap{"two-holders in 2 steps", noScope}},
		{Name: "a semaphore, three", Lock: atomically(polls(semaphore)), Scenario: three, Gap: Gap{"two-holders in 2 steps", noScope}},
		{
			Name: "a semaphore by a sorted set", Lock: atomically(polls(semaphoreByClock)), Scenario: three,
			Gap: Gap{"two-holders in 2 steps", noScope},
		},
		{Name: "a writer and a reader", Lock: polls(readWrite(writer, reader)), Gap: Gap{"untold in 3 steps", otherKey}},
		{
			Name: "two writers and two readers", Lock: atomically(polls(readWrite(writer, reader))), Scenario: four,
			Gap: Gap{"untold in 2 steps", noScope},
		},
	}
}
