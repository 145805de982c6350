package api

import (
	"net/http"

	"github.com/google/uuid"
)

// OrderIDHeader carries the id of a sale's order from the cluster's reverse proxy to the replica that sells. If the replica
// never answers, the proxy can still name the order to the buyer.
const OrderIDHeader = "X-Lockstep-Order-ID"

// orderID returns the id of a sale's order. With an idempotency key, it is derived from the key. Without one, it is the id assigned by the
// cluster's reverse proxy, or a new one; no client chooses it, because it also names the owner of the lock.
func (a *API) orderID(r *http.Request, key string) string {
	if key != "" {
		return OrderOfKey(key)
	}
	if id, err := uuid.Parse(r.Header.Get(OrderIDHeader)); err == nil && a.BehindFront {
		return id.String()
	}
	return a.NewID()
}
