package service

import (
	"maps"
	"slices"
	"sync"
)

// asked are the ids of the orders that are asked for here.
type inFlightOrders struct {
	mu       sync.Mutex
	requests map[string]int // by id, how often
}

// register notes that an order is asked for, until the function that it returns is called.
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

// has reports whether an order is asked for.
func (o *inFlightOrders) contains(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.requests[id] > 0
}

// ids returns the orders that are asked for.
func (o *inFlightOrders) ids() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.AppendSeq([]string{}, maps.Keys(o.requests))
}
