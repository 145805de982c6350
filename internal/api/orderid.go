package api

import (
	"net/http"

	"github.com/google/uuid"
)

// OrderIDHeader carries the id of a sale's order from a cluster's front to the replica that is to sell: the front knows it
// then even if the replica never answers, and can tell the buyer which order to look for.
const OrderIDHeader = "X-Lockstep-Order-ID"

// orderID returns the id of a sale's order: that of its key. Without a key it is the owner of the lock, too: the front's, if it has made
// one, or one made here. No client chooses it.
func (a *API) orderID(r *http.Request, key string) string {
	if key != "" {
		return OrderOfKey(key)
	}
	if id, err := uuid.Parse(r.Header.Get(OrderIDHeader)); err == nil && a.BehindFront {
		return id.String()
	}
	return a.NewID()
}
