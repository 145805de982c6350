package seat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// fairQueue runs one task at a time. Clients take turns, so that a client with many tasks delays its own, not those of others.
type fairQueue struct {
	capacity int // largest number of tickets, including that of the running task

	mu      sync.Mutex // guards the fields below
	tickets []*ticket  // tickets of the running and the waiting tasks, in order of arrival
	current *ticket    // ticket of the running task; nil: none
	round   int        // present round; each client has at most one turn in a round
}

// ticket is a client's place in the queue.
type ticket struct {
	client string     // client that holds the ticket
	round  int        // round of the turn: the next round, or the round after that of the client's previous ticket
	turn   chan error // receives nil when the turn comes, or ErrBusy if another client needs the place
}

// join takes a ticket for a client; the caller must give it back by leave. If the queue is full, another client that has more tickets than
// this client would have loses its last waiting ticket. If there is no such client, join fails with ErrBusy.
func (q *fairQueue) join(client string) (*ticket, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	p, tickets := &ticket{client, q.round + 1, make(chan error, 1)}, map[string]int{client: 1}
	for _, other := range q.tickets {
		if tickets[other.client]++; other.client == client {
			p.round = max(p.round, other.round+1)
		}
	}
	if len(q.tickets) >= q.capacity {
		var last *ticket
		for _, other := range q.tickets {
			if other != q.current && tickets[other.client] > tickets[client] && (last == nil || tickets[other.client] >= tickets[last.client]) {
				last = other
			}
		}
		if last == nil {
			return nil, ErrBusy
		}
		last.turn <- fmt.Errorf("%w; you have more waiting requests than others", ErrBusy)
		q.tickets = slices.DeleteFunc(q.tickets, func(other *ticket) bool { return other == last })
	}
	q.tickets = append(q.tickets, p)
	if q.current == nil {
		q.startNext()
	}
	return p, nil
}

// leave gives a ticket back.
func (q *fairQueue) leave(p *ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.tickets = slices.DeleteFunc(q.tickets, func(other *ticket) bool { return other == p })
	if q.current == p {
		q.startNext()
	}
}

// startNext gives the turn to the first ticket of the earliest round.
func (q *fairQueue) startNext() {
	q.current = nil
	if len(q.tickets) > 0 {
		q.current = slices.MinFunc(q.tickets, func(a, b *ticket) int { return a.round - b.round })
		q.round = q.current.round
		q.current.turn <- nil
	}
}

// run waits for a turn of a client, and calls do. It does not call do, and returns nil, if isDone reports true before or after the wait:
// another task may have cached the result. During the wait, run calls waiting every second. It fails with ErrLeft if ctx ends first, and
// with ErrBusy if the queue is full, if another client needs the place, or if ctx ends with the cause ErrBusy.
func (q *fairQueue) run(ctx context.Context, client string, isDone func() bool, waiting func(), do func() error) error {
	if isDone() {
		return nil
	}
	p, err := q.join(client)
	if err != nil {
		return err
	}
	defer q.leave(p)
	select {
	case err = <-p.turn:
	default:
		waiting()
		stop := repeat(time.Second, waiting)
		select {
		case err = <-p.turn:
		case <-ctx.Done():
			if err = context.Cause(ctx); !errors.Is(err, ErrBusy) {
				err = fmt.Errorf("%w: %w", ErrLeft, err)
			}
		}
		stop()
	}
	if err != nil || isDone() {
		return err
	}
	return do()
}

// notCached is the isDone of fairQueue.run for a result that is never cached.
func notCached() bool { return false }

// noUpdate is the waiting of fairQueue.run for a request without progress.
func noUpdate() {}

// repeat calls do at this interval until stop is called. stop waits for a call in progress.
func repeat(interval time.Duration, do func()) (stop func()) {
	var ended sync.WaitGroup
	stopping, cancel := context.WithCancel(context.Background())
	ended.Go(func() {
		for ticker := time.NewTicker(interval); ; {
			select {
			case <-ticker.C:
				do()
			case <-stopping.Done():
				return
			}
		}
	})
	return func() { cancel(); ended.Wait() }
}
