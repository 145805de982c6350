package lock

import "sync"

// Renewals maps owners to the renewals of their locks, so that nested calls find that of the outermost call. The zero value is empty. It is
// safe for concurrent use.
type Renewals struct{ byOwner sync.Map }

// Get returns the renewal of owner's lock, if an outer call has put one.
func (r *Renewals) Get(owner string) (renewal *Renewal, ok bool) {
	value, _ := r.byOwner.Load(owner)
	renewal, ok = value.(*Renewal)
	return renewal, ok
}

// Put adds the renewal of owner's lock.
func (r *Renewals) Put(owner string, renewal *Renewal) { r.byOwner.Store(owner, renewal) }

// Remove deletes the renewal of owner's lock.
func (r *Renewals) Remove(owner string) { r.byOwner.Delete(owner) }
