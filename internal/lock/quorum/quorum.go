// Package quorum asks several independent Redis masters the same thing at once, and counts what they say (redis.io: Distributed Locks
// with Redis).
//
// A node that is late is passed over until it answers or its client gives it up, some three seconds later. So the process that meets a node
// that hangs waits for it once when it takes the lock, and once when it releases it; then again after those seconds.
package quorum

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
)

// errSlow means that a node did not answer in its time.
var errSlow = errors.New("the node did not answer in its time")

// Nodes are the masters.
type Nodes struct {
	clock   lock.Clock
	timeout time.Duration
	all     []*Node

	mu     sync.Mutex
	change chan struct{} // closed when a node is idle again
	hung   bool          // a vote has waited in vain for a majority of idle nodes, and there was none since
}

// Node is one of the masters. It is asked one thing after the other, in the order of the calls of Ask, so that what is asked last is done
// last.
type Node struct {
	client redis.Cmdable
	last   chan struct{} // closed when the last request is answered
}

// New makes nodes of their clients. They are waited for no longer than timeout.
func New(clients []redis.Cmdable, clock lock.Clock, timeout time.Duration) *Nodes {
	n := &Nodes{clock: clock, timeout: timeout, change: make(chan struct{})}
	answered := make(chan struct{})
	close(answered)
	for _, client := range clients {
		n.all = append(n.all, &Node{client: client, last: answered})
	}
	return n
}

// Majority returns the smallest number of nodes of which any two sets have a node in common.
func (n *Nodes) Majority() int { return len(n.all)/2 + 1 }

// Minority returns how many may be missing.
func (n *Nodes) Minority() int { return len(n.all) - n.Majority() }

// Request asks one node, which agrees or does not.
type Request func(context.Context, redis.Cmdable) (bool, error)

// Tally is what the nodes said. One that said nothing in time has failed.
type Tally struct {
	Yes, No, Failed int

	err error // the first failure's
}

func (t *Tally) voted() int { return t.Yes + t.No + t.Failed }

func (t *Tally) fail(nodes int, err error) {
	t.Failed += nodes
	if nodes > 0 && t.err == nil {
		t.err = err
	}
}

// Vote asks all nodes at once, but passes over one that has still not answered the last request. It gives those that were asked. If these
// are no majority, it waits for one as long as for an answer, so that nodes that are late for a moment do not fail many votes. If they
// hang, the next votes do not wait.
func (n *Nodes) Vote(ctx context.Context, r Request) (Tally, []*Node) {
	asked := n.ready(ctx)
	t := n.Ask(ctx, asked, r)
	t.fail(len(n.all)-len(asked), errSlow)
	return t, asked
}

// ready waits for a majority of idle nodes, and gives all that are idle.
func (n *Nodes) ready(ctx context.Context) []*Node {
	wait, stop := ctx, func() {}
	for {
		idle, change := n.idle()
		if change == nil || ctx.Err() != nil { // one who has left has not waited in vain
			stop()
			return idle
		}
		if wait == ctx {
			wait, stop = lock.WithTimeout(ctx, n.clock, n.timeout, errSlow)
		}
		if n.clock.Wait(wait, change) != nil && ctx.Err() == nil {
			n.mu.Lock()
			n.hung = true
			n.mu.Unlock()
		}
	}
}

// idle gives the nodes that are asked nothing. If these are no majority, and it is worth waiting, it gives what tells of the next one.
func (n *Nodes) idle() (idle []*Node, change <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, node := range n.all {
		select {
		case <-node.last:
			idle = append(idle, node)
		default:
		}
	}
	switch {
	case len(idle) >= n.Majority():
		n.hung = false
	case !n.hung:
		change = n.change
	}
	return idle, change
}

// answered ends the request to a node that last was of.
func (n *Nodes) answered(last chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(last)
	close(n.change)
	n.change = make(chan struct{})
}

// Ask asks these nodes at once, and waits for all of them, but no longer than the time for a node. Requests go on after that: the answer
// to one has to be known before the node is asked the next thing.
func (n *Nodes) Ask(ctx context.Context, nodes []*Node, r Request) Tally {
	wait, stop := lock.WithTimeout(ctx, n.clock, n.timeout, errSlow)
	defer stop()
	b := &ballot{all: len(nodes), over: make(chan struct{})}
	for _, node := range nodes {
		n.mu.Lock()
		before, last := node.last, make(chan struct{})
		node.last = last
		n.mu.Unlock()
		n.clock.Go("ask", func() {
			uncut := context.WithoutCancel(ctx)
			if err := n.clock.Wait(uncut, before); err != nil {
				b.cast(false, err)
				return
			}
			agreed, err := r(uncut, node.client)
			n.answered(last)
			b.cast(agreed, err)
		})
	}
	if len(nodes) > 0 {
		_ = n.clock.Wait(wait, b.over) // either way, what was said by then counts
	}
	return b.close()
}

// Unavailable returns the error of a vote that could not be won because so many nodes failed.
func (n *Nodes) Unavailable(what string, t Tally) error {
	return fmt.Errorf("%s: %w: %d of %d nodes: %w", what, lock.ErrUnavailable, t.Failed, len(n.all), t.err)
}

// ballot counts what nodes say, until it is closed.
type ballot struct {
	all  int
	over chan struct{} // closed when all have voted

	mu    sync.Mutex
	tally Tally
}

func (b *ballot) cast(agreed bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case err != nil:
		b.tally.fail(1, err)
	case agreed:
		b.tally.Yes++
	default:
		b.tally.No++
	}
	if b.tally.voted() == b.all {
		close(b.over)
	}
}

// close gives the result. A vote that comes later has failed.
func (b *ballot) close() Tally {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.tally
	t.fail(b.all-t.voted(), errSlow)
	return t
}
