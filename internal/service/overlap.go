package service

import "sync/atomic"

// Overlap is what is known of how many sales of a run were in flight at once. Nil knows nothing.
type Overlap struct{ most atomic.Int64 }

// raise notes that so many are in flight.
func (o *Overlap) raise(inFlight int64) {
	most := o.most.Load()
	for inFlight > most && !o.most.CompareAndSwap(most, inFlight) {
		most = o.most.Load()
	}
}

// noteConflict notes that a sale met another one, perhaps of another replica: it was refused the lock, or the other one wrote first.
func (o *Overlap) noteConflict() {
	if o != nil {
		o.raise(2)
	}
}

// atLeast returns how many were in flight at once, at least.
func (o *Overlap) atLeast() int64 {
	if o == nil {
		return 0
	}
	return o.most.Load()
}
