package api

import (
	"net/http"

	"github.com/google/uuid"
)

// OrderIDHeader carries the id of a sale's order from a cluster's front to the replica that is to sell: the front knows it
// then even if the replica never answers, and can tell the buyer what to look for.
const OrderIDHeader = "X-Lockstep-Order-ID"

// newOrderID gives a sale's order its id: the front's, where there is one. No client of the front chooses it, for it is the lock's owner,
// too.
func (a *API) newOrderID(r *http.Request) string {
	if id, err := uuid.Parse(r.Header.Get(OrderIDHeader)); a.BehindFront && err == nil {
		return id.String()
	}
	return a.Shop.NewID()
}
