// Package quorum sends a request to several independent Redis masters at once, and counts their answers (redis.io: Distributed Locks with
// Redis).
//
// A late node is skipped until it answers or its client gives up, about three seconds later. So a node that hangs delays a process once
// when it takes the lock and once when it releases it, and then again after those seconds.
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

// errSlow is counted for a node that did not answer in time.
var errSlow = errors.New("the node did not answer in time")

// Nodes is a set of independent masters.
type Nodes struct {
	clock   lock.Clock
	timeout time.Duration // longest wait for an answer
	all     []*Node

	mu     sync.Mutex
	change chan struct{} // closed when a node becomes idle
	hung   bool          // true: a vote waited in vain for a majority of idle nodes; no vote waits until there is one again
}

// Node is one of the masters. It gets one request after the other, in the order of the calls of Ask, so that the last request takes effect
// last.
type Node struct {
	client redis.Cmdable
	last   chan struct{} // closed when the last request is answered
}

// New returns the nodes of these clients. timeout bounds the wait for their answers.
func New(clients []redis.Cmdable, clock lock.Clock, timeout time.Duration) *Nodes {
	n := &Nodes{clock: clock, timeout: timeout, change: make(chan struct{})}
	answered := make(chan struct{})
	close(answered)
	for _, client := range clients {
		n.all = append(n.all, &Node{client: client, last: answered})
	}
	return n
}

// Majority returns the size of a quorum: any two sets of this many nodes have a node in common.
func (n *Nodes) Majority() int { return len(n.all)/2 + 1 }

// Minority returns the largest number of nodes that may fail.
func (n *Nodes) Minority() int { return len(n.all) - n.Majority() }

// Request sends a request to one node, and reports whether the node agrees.
type Request func(context.Context, redis.Cmdable) (bool, error)

// Tally counts the answers of nodes. A node that did not answer in time has failed.
type Tally struct {
	Yes, No, Failed int // number of nodes that agreed, refused, and failed

	err error // first failure; nil: none
}

// voted returns the number of nodes counted so far.
func (t *Tally) voted() int { return t.Yes + t.No + t.Failed }

// fail counts failed nodes.
func (t *Tally) fail(nodes int, err error) {
	t.Failed += nodes
	if nodes > 0 && t.err == nil {
		t.err = err
	}
}

// Vote sends a request to all nodes at once, except those that have not answered their last request, and returns the nodes that were asked.
// If fewer than a majority are idle, Vote first waits for a majority, for at most the timeout of an answer, so that nodes that are briefly
// late do not fail many votes. If it waited in vain, later votes do not wait.
func (n *Nodes) Vote(ctx context.Context, r Request) (Tally, []*Node) {
	asked := n.ready(ctx)
	t := n.Ask(ctx, asked, r)
	t.fail(len(n.all)-len(asked), errSlow)
	return t, asked
}

// ready waits for a majority of idle nodes, and returns all idle nodes.
func (n *Nodes) ready(ctx context.Context) []*Node {
	wait, stop := ctx, func() {}
	for {
		idle, change := n.idle()
		if change == nil || ctx.Err() != nil { // A caller that left has not waited in vain.
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

// idle returns the nodes without a pending request. If they are not a majority, and waiting makes sense, change is closed when the next
// node becomes idle; otherwise it is nil.
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

// endRequest closes done, the channel last of a node whose request has ended, and wakes the votes that wait for an idle node.
func (n *Nodes) endRequest(done chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(done)
	close(n.change)
	n.change = make(chan struct{})
}

// Ask sends a request to these nodes at once, and waits for all answers, at most for the timeout. Requests go on after that, because a node
// gets its next request only after it has answered.
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
			detached := context.WithoutCancel(ctx)
			if err := n.clock.Wait(detached, before); err != nil {
				b.cast(false, err)
				return
			}
			agreed, err := r(detached, node.client)
			n.endRequest(last)
			b.cast(agreed, err)
		})
	}
	if len(nodes) > 0 {
		_ = n.clock.Wait(wait, b.over) // Answers count up to the end of the wait, however it ends.
	}
	return b.close()
}

// UnavailableError returns the error of a vote that could not be won because too many nodes failed.
func (n *Nodes) UnavailableError(command string, t Tally) error {
	return fmt.Errorf("%s: %w: %d of %d nodes: %w", command, lock.ErrUnavailable, t.Failed, len(n.all), t.err)
}

// ballot counts answers until it is closed.
type ballot struct {
	all  int           // number of nodes asked
	over chan struct{} // closed when all have voted

	mu    sync.Mutex
	tally Tally
}

// cast counts the answer of a node.
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

// close returns the result. Nodes that have not voted count as failed.
func (b *ballot) close() Tally {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.tally
	t.fail(b.all-t.voted(), errSlow)
	return t
}
