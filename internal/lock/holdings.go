package lock

import "sync"

// Holdings are the locks that the owners of one process hold, for a lock that is reentrant and renewed. The nested calls of an owner
// share one renewal. It is safe for concurrent use; the zero value holds nothing.
type Holdings struct {
	mu      sync.Mutex
	byOwner map[string]*ownerHolding
}

// ownerHolding is one owner's time as holder, from its outermost Lock to its outermost Unlock.
type ownerHolding struct {
	renewal *Renewal
	depth   int
}

// Join counts one more lease of owner's. The first one starts the renewal. Redis counted count leases: one, for a nested call, means
// that the outer call's lock had gone.
func (h *Holdings) Join(owner string, count int64, start func() *Renewal) *Renewal {
	h.mu.Lock()
	defer h.mu.Unlock()
	held, nested := h.byOwner[owner]
	if !nested {
		held = &ownerHolding{renewal: start()}
		if h.byOwner == nil {
			h.byOwner = map[string]*ownerHolding{}
		}
		h.byOwner[owner] = held
	} else if count == 1 {
		held.renewal.Lose()
	}
	held.depth++
	return held.renewal
}

// Leave counts one lease less. The outermost one stops the renewal.
func (h *Holdings) Leave(owner string) (outermost bool) {
	h.mu.Lock()
	held, holds := h.byOwner[owner]
	if holds {
		held.depth--
		if held.depth > 0 {
			h.mu.Unlock()
			return false
		}
		delete(h.byOwner, owner)
	}
	h.mu.Unlock()
	if holds {
		held.renewal.Stop() // waits, so not under the mutex
	}
	return true
}

// Hold reports whether owner holds the lock.
func (h *Holdings) Hold(owner string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, holds := h.byOwner[owner]
	return holds
}
