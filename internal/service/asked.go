package service

import (
	"maps"
	"slices"
	"sync"
)

// asked are the ids of the orders that are asked for here.
type asked struct {
	mu    sync.Mutex
	times map[string]int // by id, how often
}

// register notes that an order is asked for, until the function that it returns is called.
func (a *asked) register(id string) (done func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.times[id]++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.times[id]--; a.times[id] == 0 {
			delete(a.times, id)
		}
	}
}

// has reports whether an order is asked for.
func (a *asked) has(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.times[id] > 0
}

// ids returns the orders that are asked for.
func (a *asked) ids() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.AppendSeq([]string{}, maps.Keys(a.times))
}
