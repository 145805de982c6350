package variants

import "lockstep/internal/explore"

// rightShared are right semaphores of 2 and read-write locks. A semaphore guards a sale that needs no lock.
func rightShared() []Variant {
	three, four := explore.Scenario{Actors: 3}, explore.Scenario{Actors: 4, Try: 4}
	return []Variant{
		{Name: "a semaphore, two", Lock: ofTwo(polls(semaphore))},
		{Name: "a semaphore, three", Lock: ofTwo(polls(semaphore)), Scenario: three},
		{
			Name: "a semaphore by a sorted set", Lock: ofTwo(polls(semaphoreByClock)), Scenario: three,
		},
		{Name: "a writer and a reader", Lock: readWrite(writer, reader)},
		{
			Name: "two writers and two readers", Lock: atomically(readWrite(writer, reader)), Scenario: four,
		},
	}
}
