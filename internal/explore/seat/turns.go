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
	working *ticket   // nil: none
	round   int       // that goes on: one turn of each client
}

// ticket is a place of a client's.
type ticket struct {
	of      *turns
	client  string
	round   int           // that brings its turn
	turn    chan struct{} // closed when it comes; nil: it does not wait
	dropped chan struct{} // closed when another client gets the place
}

func newTurns(line int) *turns { return &turns{most: line + 1} }

// join takes a place for a client. If there is none left, the client that has most of them loses its last that waits, unless the new one
// has about as many: then join fails with ErrBusy. Whoever got a place leaves in the end.
func (t *turns) join(client string) (*ticket, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := &ticket{of: t, client: client, dropped: make(chan struct{})}
	if len(t.tickets) >= t.most {
		last := t.lastOfMost(client)
		if last == nil {
			return nil, ErrBusy
		}
		close(last.dropped)
		t.remove(last)
	}
	t.tickets = append(t.tickets, p)
	return p, nil
}

// lastOfMost returns the last place that waits of the client that has most, and at least two more than this one; nil if there is none.
func (t *turns) lastOfMost(client string) (last *ticket) {
	has := map[string]int{}
	for _, p := range t.tickets {
		has[p.client]++
	}
	for _, p := range t.tickets {
		if p.turn != nil && p != t.working && has[p.client] > has[client]+1 && (last == nil || has[p.client] >= has[last.client]) {
			last = p
		}
	}
	return last
}

// leave gives the place back.
func (p *ticket) leave() {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.of.remove(p)
}

func (t *turns) remove(p *ticket) {
	t.tickets = slices.DeleteFunc(t.tickets, func(other *ticket) bool { return other == p })
	if t.working == p {
		t.next()
	}
}

// next gives the turn to the one whose round is the earliest, and of these to the one that came first.
func (t *turns) next() {
	t.working = nil
	for _, p := range t.tickets {
		if p.turn != nil && (t.working == nil || p.round < t.working.round) {
			t.working = p
		}
	}
	if t.working != nil {
		t.round = t.working.round
		close(t.working.turn)
	}
}

// wait asks for a turn: in the next round, or in the one after the last of its client.
func (p *ticket) wait() {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.round, p.turn = p.of.round+1, make(chan struct{})
	for _, other := range p.of.tickets {
		if other != p && other.client == p.client && other.turn != nil {
			p.round = max(p.round, other.round+1)
		}
	}
	if p.of.working == nil {
		p.of.next()
	}
}

// begin waits for the turn, and tells waiting every second that it does. It fails with ErrLeft when ctx ends, and with ErrBusy if others,
// who have fewer places, need this one.
func (p *ticket) begin(ctx context.Context, waiting func()) (end func(), err error) {
	p.wait()
	select {
	case <-p.turn:
		return p.end, nil
	default:
		waiting()
	}
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-p.turn:
			return p.end, nil
		case <-second.C:
			waiting()
		case <-p.dropped:
			return nil, fmt.Errorf("%w: you have more of them than others", ErrBusy)
		case <-ctx.Done():
			p.end()
			return nil, fmt.Errorf("%w: %w", ErrLeft, ctx.Err())
		}
	}
}

// end ends the turn, or the wait for it.
func (p *ticket) end() {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.turn = nil
	if p.of.working == p {
		p.of.next()
	}
}

// once does something in a turn of its own, unless it was done before, or by whoever had the turn meanwhile.
func (p *ticket) once(ctx context.Context, done func() bool, waiting, do func()) error {
	if done() {
		return nil
	}
	end, err := p.begin(ctx, waiting)
	if err != nil {
		return err
	}
	defer end()
	if !done() {
		do()
	}
	return nil
}

// alone does something in a turn of its own, if that comes within a time.
func (t *turns) alone(ctx context.Context, client string, within time.Duration, do func() error) error {
	p, err := t.join(client)
	if err != nil {
		return err
	}
	defer p.leave()
	soon, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	end, err := p.begin(soon, func() {})
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: no turn came in %v", ErrBusy, within)
	}
	if err != nil {
		return err
	}
	defer end()
	return do()
}
