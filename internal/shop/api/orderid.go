package api

import (
	"net/http"

	"github.com/google/uuid"
)

// OrderIDHeader carries the id of a sale's order from a cluster's front to the replica that is to sell: the front knows it
// then even if the replica never answers, and can tell the buyer which order to look for.
const OrderIDHeader = "X-Lockstep-Order-ID"

// OrderIDs gives the order of each sale its id, which is the owner of the lock, too: no client chooses it.
type OrderIDs func(*http.Request) string

// OwnOrderIDs makes the ids in this server.
func OwnOrderIDs(newID func() string) OrderIDs {
	return func(*http.Request) string { return newID() }
}

// FrontOrderIDs takes the ids that a cluster's front has made; where it has made none, this server does.
func FrontOrderIDs(newID func() string) OrderIDs {
	return func(r *http.Request) string {
		if id, err := uuid.Parse(r.Header.Get(OrderIDHeader)); err == nil {
			return id.String()
		}
		return newID()
	}
}
