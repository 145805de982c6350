package lockv9

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

// nodeTimeout bounds the wait for the nodes: it has to be short beside the expiry, or no validity would be left.
func (l *Locker) nodeTimeout() time.Duration { return l.opts.TTL / 20 }

// quorum is a majority: any two have a node in common.
func (l *Locker) quorum() int { return len(l.nodes)/2 + 1 }

// node is one of the masters. It is asked one thing after the other, so that what is sent last is done last.
type node struct {
	client redis.Cmdable
	idle   chan struct{} // holds one token while the node is asked nothing
}

func newNode(client redis.Cmdable) *node {
	n := &node{client: client, idle: make(chan struct{}, 1)}
	n.idle <- struct{}{}
	return n
}

// request asks one node, which agrees or does not.
type request func(context.Context, redis.Cmdable) (bool, error)

// tally is what nodes said. Who said nothing in time has failed.
type tally struct {
	yes, no, failed int
	err             error // the first failure's
}

func (t *tally) voted() int { return t.yes + t.no + t.failed }

func (t *tally) fail(nodes int, err error) {
	t.failed += nodes
	if nodes > 0 && t.err == nil {
		t.err = err
	}
}

// vote asks all nodes at once. One that has still not answered the last request is passed over. It gives those that were asked.
func (l *Locker) vote(ctx context.Context, r request) (tally, []*node) {
	var asked []*node
	for _, n := range l.nodes {
		if len(n.idle) > 0 {
			asked = append(asked, n)
		}
	}
	t := l.ask(ctx, asked, r)
	t.fail(len(l.nodes)-len(asked), errSlow)
	return t, asked
}

// ask asks nodes at once, and waits for all of them, but no longer than the time for a node. Requests go on after that: what a node was
// asked has to be known before it is asked the next thing.
func (l *Locker) ask(ctx context.Context, nodes []*node, r request) tally {
	wait, stop := lock.WithTimeout(ctx, l.opts.Clock, l.nodeTimeout(), errSlow)
	defer stop()
	b := &ballot{all: len(nodes), over: make(chan struct{})}
	for _, n := range nodes {
		l.opts.Clock.Go(func() {
			uncut := context.WithoutCancel(ctx)
			if err := l.opts.Clock.Wait(uncut, n.idle); err != nil {
				b.cast(false, err)
				return
			}
			agreed, err := r(uncut, n.client)
			n.idle <- struct{}{}
			b.cast(agreed, err)
		})
	}
	if len(nodes) > 0 {
		_ = l.opts.Clock.Wait(wait, b.over) // either way, what was said by then counts
	}
	return b.close()
}

// ballot counts what nodes say, until it is closed.
type ballot struct {
	all  int
	over chan struct{} // closed when all have voted

	mu sync.Mutex
	so tally // far
}

func (b *ballot) cast(agreed bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case err != nil:
		b.so.fail(1, err)
	case agreed:
		b.so.yes++
	default:
		b.so.no++
	}
	if b.so.voted() == b.all {
		close(b.over)
	}
}

// close gives the result. Who votes later has failed.
func (b *ballot) close() tally {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.so
	t.fail(b.all-t.voted(), errSlow)
	return t
}

// unavailable is the error of a vote that could not be won because so many nodes failed.
func (l *Locker) unavailable(what string, t tally) error {
	return fmt.Errorf("%s: %w: %d of %d nodes: %w", what, lock.ErrUnavailable, t.failed, len(l.nodes), t.err)
}
