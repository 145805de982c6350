package load

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"lockstep/internal/lock"
	"lockstep/internal/service"
)

// mostAsked is how many of its own orders a burst asks for at most, and askers how many it asks for at a time.
const (
	mostAsked = 1000
	askers    = 8
)

// ownOrders returns the ids of orders of buyers who were told that they bought: all of them, or some that are spread evenly.
func ownOrders(attempts []attempt) (ids []string) {
	for i := 0; i < len(attempts); i += (len(attempts)-1)/mostAsked + 1 {
		if attempts[i].sold() {
			ids = append(ids, attempts[i].order)
		}
	}
	return ids
}

// countGone asks a shop for orders, and counts those that it does not have.
func (b Burst) countGone(ctx context.Context, client *http.Client, ids []string) (gone int, err error) {
	var mu sync.Mutex
	var asking sync.WaitGroup
	next := make(chan string)
	for range min(askers, len(ids)) {
		asking.Go(func() {
			for id := range next {
				isGone, failed := b.isGone(ctx, client, id)
				mu.Lock()
				if isGone {
					gone++
				}
				if err == nil {
					err = failed
				}
				mu.Unlock()
			}
		})
	}
	for _, id := range ids {
		next <- id
	}
	close(next)
	asking.Wait()
	return gone, err
}

// isGone reports whether a shop says that it has no order of this id.
func (b Burst) isGone(ctx context.Context, client *http.Client, id string) (bool, error) {
	at := b.Targets[0] + "/orders/" + id
	answer, text, err := do(ctx, client, http.MethodGet, at, nil, nil)
	if err != nil {
		return false, fmt.Errorf("GET %s: %w", DisplayURL(at), err)
	}
	switch problem := problemOf(answer.Status, answer.location, text); {
	case answer.Status == http.StatusOK:
		return false, nil
	case answer.Status == http.StatusNotFound && problem.Code == lock.CodeOf(service.ErrNoOrder):
		return true, nil
	default:
		return false, fmt.Errorf("%w GET %s: %d %s: %s", ErrRefused, DisplayURL(at), answer.Status, problem.Code, problem.Message)
	}
}
