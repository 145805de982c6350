package lab

import "lockstep/internal/watch/witness"

// What a scenario waits for where sales wait for the lock.

// waits reports whether a sale waits for the lock: it was refused, or it stands in the queue of its process, and nothing of that is seen.
func waits(sale string) Condition {
	return either(refused(sale), all(asks(sale), queues(witness.ReplicaOf(sale))))
}

// refused reports whether a sale has found the lock held.
func refused(sale string) Condition { return does(sale, witness.Takes, witness.Refused) }

// queues reports whether the sales of a replica wait in a queue of its own: it has the lock as a whole, or asks for it by no command that
// the witness sees.
func queues(replica string) Condition {
	asWhole := some(func(e witness.Event) bool {
		return commands("", witness.Takes, witness.Done)(e) && e.Command.Holder == replica
	})
	return either(asWhole, all(happened(witness.KindObtains), not(does("", witness.Takes, ""))))
}

// handsOn reports whether a replica has given the lock back by a command that hands it to the next process, if one waits.
func handsOn(replica string) Condition { return does(replica, witness.Removes, witness.Passed) }

// renews reports whether a replica has renewed its lock.
func renews(replica string) Condition { return does(replica, witness.Renews, witness.Done) }
