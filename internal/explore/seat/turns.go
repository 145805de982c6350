package seat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// turns lets one work at a time. Clients take turns: one that asks for much waits for itself, not the others for it.
type turns struct {
	most int // places: of the one that works, and of those that wait

	mu      sync.Mutex
	tickets []*ticket // in the order in which they were taken
	working *ticket   // nil: nobody
	round   int       // that goes on: one turn of each client
}

// ticket is a place of a client's.
type ticket struct {
	client string
	round  int        // that brings its turn: the next, or the one after the last of its client
	turn   chan error // nil when it comes, ErrBusy when another client gets the place
}

// join takes a place for a client. If there is none left, the client that has most of them loses its last that waits, unless the new one
// has about as many: then join fails with ErrBusy. Whoever got a place leaves in the end.
func (t *turns) join(client string) (*ticket, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, has := &ticket{client, t.round + 1, make(chan error, 1)}, map[string]int{client: 1}
	for _, other := range t.tickets {
		if has[other.client]++; other.client == client {
			p.round = max(p.round, other.round+1)
		}
	}
	if len(t.tickets) >= t.most {
		var last *ticket
		for _, other := range t.tickets {
			if other != t.working && has[other.client] > has[client] && (last == nil || has[other.client] >= has[last.client]) {
				last = other
			}
		}
		if last == nil {
			return nil, ErrBusy
		}
		last.turn <- fmt.Errorf("%w: you have more of them than others", ErrBusy)
		t.tickets = slices.DeleteFunc(t.tickets, func(other *ticket) bool { return other == last })
	}
	t.tickets = append(t.tickets, p)
	if t.working == nil {
		t.next()
	}
	return p, nil
}

// leave gives a place back.
func (t *turns) leave(p *ticket) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tickets = slices.DeleteFunc(t.tickets, func(other *ticket) bool { return other == p })
	if t.working == p {
		t.next()
	}
}

// next gives the turn to the one whose round is the earliest, and of these to the one that came first.
func (t *turns) next() {
	t.working = nil
	if len(t.tickets) > 0 {
		t.working = slices.MinFunc(t.tickets, func(a, b *ticket) int { return a.round - b.round })
		t.round = t.working.round
		t.working.turn <- nil
	}
}

// take does something in a turn of a client's, unless that is done already, or by whoever had the turn before. As long as the turn has not
// come, it tells waiting every second. It fails with ErrLeft when ctx ends before, and with ErrBusy if there is no place, or others, who
// have fewer, need this one.
func (t *turns) take(ctx context.Context, client string, done func() bool, waiting func(), do func() error) error {
	if done() {
		return nil
	}
	p, err := t.join(client)
	if err != nil {
		return err
	}
	defer t.leave(p)
	select {
	case err = <-p.turn:
	default:
		waiting()
		stop := every(time.Second, waiting)
		select {
		case err = <-p.turn:
		case <-ctx.Done():
			if err = context.Cause(ctx); !errors.Is(err, ErrBusy) {
				err = fmt.Errorf("%w: %w", ErrLeft, err)
			}
		}
		stop()
	}
	if err != nil || done() {
		return err
	}
	return do()
}

// never is of what is not done before, and nothing of what nobody waits to be told.
func never() bool { return false }
func nothing()    {}

// every does something again and again, until it is stopped. Then nothing is done any more.
func every(pause time.Duration, do func()) (stop func()) {
	var ended sync.WaitGroup
	stopping, cancel := context.WithCancel(context.Background())
	ended.Go(func() {
		for ticker := time.NewTicker(pause); ; {
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
