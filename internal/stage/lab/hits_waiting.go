package lab

import (
	"time"

	"lockstep/internal/watch/witness"
)

// What must have happened for a run to say anything where sales wait for the lock.

// diedWaiting is a replica's having died while one of its sales waited for the lock.
func diedWaiting(sale string) func(witness.Account) bool {
	return func(a witness.Account) bool {
		for i, e := range a.Events {
			if e.Replica == witness.ReplicaOf(sale) && e.Kind == witness.KindDies {
				before := a.Events[:i]
				return waits(sale)(before) && !obtains(sale)(before)
			}
		}
		return false
	}
}

// renewedInTime is a replica's having renewed its lock before one of its sales ended.
func renewedInTime(sale string) func(witness.Account) bool {
	return func(a witness.Account) bool {
		for i, e := range a.Events {
			if e.Sale == sale && e.Kind == witness.KindEnds {
				return renews(e.Replica)(a.Events[:i])
			}
		}
		return false
	}
}

// askedAfter is so many sales' having asked for the lock after one that obtained it in the end.
func askedAfter(sale string, n int) func(witness.Account) bool {
	return func(a witness.Account) bool {
		since, asked := false, 0
		for _, e := range a.Events {
			switch {
			case e.Kind != witness.KindAsks:
			case e.Sale == sale:
				since = true
			case since:
				asked++
			}
		}
		return asked >= n && obtains(sale)(a.Events)
	}
}

// keptOutFor is a sale's having asked for so long after the first sale had obtained the lock, or longer, before it obtained it or gave up.
func keptOutFor(d time.Duration, sale string) func(witness.Account) bool {
	return func(a witness.Account) bool {
		var since time.Time
		asked := false
		for _, e := range a.Events {
			switch {
			case e.Sale == "r1#1" && e.Kind == witness.KindObtains:
				since = e.Replied
			case e.Sale == sale && e.Kind == witness.KindAsks:
				asked = true
			case e.Sale == sale && (e.Kind == witness.KindObtains || e.Kind == witness.KindEnds):
				return asked && !since.IsZero() && e.Replied.Sub(since) > d
			}
		}
		return false
	}
}
