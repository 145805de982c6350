package lab

import (
	"slices"

	"lockstep/internal/watch/witness"
)

// What a scenario waits for where sales wait for the lock.

func asks(sale string) func([]witness.Event) bool { return moment(sale, witness.KindAsks) }

// waits is a sale's waiting for the lock: it was refused, or it stands in the queue of its process, and nothing of that is to be seen.
func waits(sale string) func([]witness.Event) bool {
	return either(refused(sale), all(asks(sale), queues(witness.ReplicaOf(sale))))
}

// queues is a replica's having the lock as a whole, or without a command that the witness sees: its sales wait in a queue of its own.
func queues(replica string) func([]witness.Event) bool {
	return func(events []witness.Event) bool {
		unseen, obtained := true, false
		for _, e := range events {
			obtained = obtained || e.Kind == witness.KindObtains
			if c := e.Command; c != nil && c.Verb == witness.Takes {
				unseen = false
				if c.Outcome == witness.Done && c.Holder == replica {
					return true
				}
			}
		}
		return unseen && obtained
	}
}

// obtained is so many sales' of a replica having obtained the lock, one after the other.
func obtained(replica string, n int) func([]witness.Event) bool {
	return func(events []witness.Event) bool { return howMany(events, replica, witness.KindObtains) >= n }
}

// asked is so many sales' of a replica having asked for the lock.
func asked(replica string, n int) func([]witness.Event) bool {
	return func(events []witness.Event) bool { return howMany(events, replica, witness.KindAsks) >= n }
}

func howMany(events []witness.Event, replica string, kind witness.Kind) (n int) {
	for _, e := range events {
		if e.Replica == replica && e.Kind == kind {
			n++
		}
	}
	return n
}

// handsOn is a replica's having given the lock back by a command that hands it to the next process, if one waits.
func handsOn(replica string) func([]witness.Event) bool {
	return func(events []witness.Event) bool {
		return slices.ContainsFunc(events, func(e witness.Event) bool {
			return e.Replica == replica && e.Command != nil && e.Command.Verb == witness.Removes && e.Command.Outcome == witness.Passed
		})
	}
}

// renews is a replica's having renewed its lock.
func renews(replica string) func([]witness.Event) bool {
	return func(events []witness.Event) bool {
		return slices.ContainsFunc(events, func(e witness.Event) bool {
			return e.Replica == replica && e.Command != nil && e.Command.Verb == witness.Renews && e.Command.Outcome == witness.Done
		})
	}
}
