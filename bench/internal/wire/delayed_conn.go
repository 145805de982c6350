package wire

import (
	"net"
	"os"
	"sync"
	"time"
)

// delayedConn is a connection that delays writes. A Write returns at once, and many writes can be pending together: latency increases, but
// not bandwidth.
//
// The whole round trip is added to the request, and nothing to the reply. Clients that communicate only through the server cannot
// distinguish that from half of it each way, and only one timer can be late instead of two.
type delayedConn struct {
	net.Conn
	delay time.Duration

	mu       sync.Mutex
	pending  []packet
	deadline time.Time     // deadline of Write; zero: none
	err      error         // reason why delivery has stopped
	wakeUp   chan struct{} // holds a token while there may be new packets

	closing sync.Once
	closed  chan struct{}
}

type packet struct {
	due   time.Time
	bytes []byte
}

func newDelayedConn(conn net.Conn, by time.Duration) *delayedConn {
	c := &delayedConn{Conn: conn, delay: by, wakeUp: make(chan struct{}, 1), closed: make(chan struct{})}
	go c.deliver()
	return c
}

// Write queues b for delivery. It fails if an earlier delivery failed, when the deadline has passed, and after Close.
func (c *delayedConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	switch {
	case c.err != nil:
		return 0, c.err
	case !c.deadline.IsZero() && !now.Before(c.deadline):
		return 0, os.ErrDeadlineExceeded
	}
	c.pending = append(c.pending, packet{due: now.Add(c.delay), bytes: append([]byte(nil), b...)})
	select {
	case c.wakeUp <- struct{}{}:
	default: // deliver has been woken already
	}
	return len(b), nil
}

// deliver writes packets in order when they are due, until the connection is closed or fails.
func (c *delayedConn) deliver() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-c.wakeUp:
		case <-c.closed:
			return
		}
		for _, p := range c.takePending() {
			timer.Reset(time.Until(p.due))
			select {
			case <-timer.C:
			case <-c.closed:
				return
			}
			if _, err := c.Conn.Write(p.bytes); err != nil {
				c.fail(err)
				return
			}
		}
	}
}

func (c *delayedConn) takePending() []packet {
	c.mu.Lock()
	defer c.mu.Unlock()
	packets := c.pending
	c.pending = nil
	return packets
}

func (c *delayedConn) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
}

// SetDeadline implements net.Conn.
func (c *delayedConn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetWriteDeadline implements net.Conn. A delivery may take the added round trip longer.
func (c *delayedConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	c.deadline = t
	c.mu.Unlock()
	if !t.IsZero() {
		t = t.Add(c.delay)
	}
	return c.Conn.SetWriteDeadline(t)
}

// Close closes the connection. Pending packets are lost.
func (c *delayedConn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	c.fail(net.ErrClosed)
	return c.Conn.Close()
}
