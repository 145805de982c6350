package service

import (
	"maps"
	"slices"
	"sync"
)

// inFlightOrders holds the ids of the orders that buyers have requested from this replica and that are not answered yet.
type inFlightOrders struct {
	mu       sync.Mutex
	requests map[string]int // order id -> number of unanswered requests
}

// add records a request for an order until done is called.
func (o *inFlightOrders) add(id string) (done func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requests[id]++
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.requests[id]--; o.requests[id] == 0 {
			delete(o.requests, id)
		}
	}
}

// contains reports whether a request for the order is in flight.
func (o *inFlightOrders) contains(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.requests[id] > 0
}

// ids returns the ids of all orders in flight.
func (o *inFlightOrders) ids() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.AppendSeq([]string{}, maps.Keys(o.requests))
}
