package lock

import "sync"

// Renewals are those of one process, each found by the owner of its lock: nested calls share the one of the outermost. It is safe for
// concurrent use; the zero value has none.
type Renewals struct{ byOwner sync.Map }

// Of returns the renewal that an outer call of owner put there, if one did.
func (r *Renewals) Of(owner string) (renewal *Renewal, found bool) {
	value, _ := r.byOwner.Load(owner)
	renewal, found = value.(*Renewal)
	return renewal, found
}

// Put remembers the renewal of owner's lock.
func (r *Renewals) Put(owner string, renewal *Renewal) { r.byOwner.Store(owner, renewal) }

// Remove forgets it.
func (r *Renewals) Remove(owner string) { r.byOwner.Delete(owner) }
