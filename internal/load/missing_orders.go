package load

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"lockstep/internal/lock"
	"lockstep/internal/service"
)

// maxLookups is how many of its own orders a burst asks for at most, and askers how many it asks for at a time.
const (
	maxLookups    = 1000
	lookupWorkers = 8
)

// ownOrders returns the ids of orders of buyers who were told that they bought: all of them, or some that are spread evenly.
func ownOrders(attempts []attempt) (ids []string) {
	for i := 0; i < len(attempts); i += (len(attempts)-1)/maxLookups + 1 {
		if attempts[i].isSold() {
			ids = append(ids, attempts[i].orderID)
		}
	}
	return ids
}

// countMissing asks a shop for orders, and counts those that it does not have.
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

// isMissing reports whether a shop says that it has no order of this id.
func (b Burst) isMissing(ctx context.Context, client *http.Client, id string) (bool, error) {
	address := b.Targets[0] + "/orders/" + id
	answer, text, err := send(ctx, client, http.MethodGet, address, nil, nil)
	if err != nil {
		return false, fmt.Errorf("GET %s: %w", DisplayURL(address), err)
	}
	switch problem := parseProblem(answer.Status, answer.location, text); {
	case answer.Status == http.StatusOK:
		return false, nil
	case answer.Status == http.StatusNotFound && problem.Code == lock.CodeOf(service.ErrNoOrder):
		return true, nil
	default:
		return false, fmt.Errorf("%w GET %s: %d %s: %s", ErrRefused, DisplayURL(address), answer.Status, problem.Code, problem.Message)
	}
}
