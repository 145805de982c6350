package load

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"lockstep/internal/lock"
	"lockstep/internal/service"
)

const (
	maxLookups    = 1000 // largest number of its own orders that a burst looks up
	lookupWorkers = 8    // number of concurrent lookups
)

// ownOrders returns the ids of the orders that were confirmed to buyers. If there are more than maxLookups, it returns an even selection.
func ownOrders(attempts []attempt) (ids []string) {
	for i := 0; i < len(attempts); i += (len(attempts)-1)/maxLookups + 1 {
		if attempts[i].isSold() {
			ids = append(ids, attempts[i].orderID)
		}
	}
	return ids
}

// countMissing looks up orders, and returns the number of those that the server does not have.
func (b Burst) countMissing(ctx context.Context, client *http.Client, ids []string) (gone int, err error) {
	var mu sync.Mutex
	var workers sync.WaitGroup
	next := make(chan string)
	for range min(lookupWorkers, len(ids)) {
		workers.Go(func() {
			for id := range next {
				isGone, lookupErr := b.isMissing(ctx, client, id)
				mu.Lock()
				if isGone {
					gone++
				}
				if err == nil {
					err = lookupErr
				}
				mu.Unlock()
			}
		})
	}
	for _, id := range ids {
		next <- id
	}
	close(next)
	workers.Wait()
	return gone, err
}

// isMissing reports whether the server answers that it has no order with this id.
func (b Burst) isMissing(ctx context.Context, client *http.Client, id string) (bool, error) {
	address := b.Targets[0] + "/orders/" + id
	answer, text, err := send(ctx, client, http.MethodGet, address, nil, nil)
	if err != nil {
		return false, fmt.Errorf("GET %s: %w", DisplayURL(address), err)
	}
	problem := parseProblem(answer.Status, answer.location, text)
	switch {
	case answer.Status == http.StatusOK:
		return false, nil
	case answer.Status == http.StatusNotFound && problem.Code == lock.CodeOf(service.ErrNoOrder):
		return true, nil
	default:
		return false, fmt.Errorf("%w GET %s: %d %s: %s", ErrRefused, DisplayURL(address), answer.Status, problem.Code, problem.Message)
	}
}
