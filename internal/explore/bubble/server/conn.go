package server

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// Conn is the client's end of a connection, a net.Conn in memory. It works inside a bubble of testing/synctest: whoever waits here waits
// durably, and deadlines are those of the bubble's clock.
type Conn struct {
	line *Line // the other end; it is told in the client's own goroutine

	mu       sync.Mutex
	unparsed []byte // sent by the client, no whole command yet
	unread   []byte // sent by the server
	broken   bool   // the server has gone away
	closed   bool   // the client has closed it
	deadline time.Time
	changed  chan struct{} // something of the above has, for who reads
}

// send lets the client read something.
func (c *Conn) send(b []byte) {
	c.mu.Lock()
	c.unread = append(c.unread, b...)
	c.mu.Unlock()
	c.wake()
}

// end ends the connection, as a server that goes away does.
func (c *Conn) end() {
	c.mu.Lock()
	c.broken = true
	c.mu.Unlock()
	c.wake()
}

// isOver reports whether the connection has ended, on either side.
func (c *Conn) isOver() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken || c.closed
}

// Write implements net.Conn.
func (c *Conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	if c.broken || c.closed {
		c.mu.Unlock()
		return 0, io.ErrClosedPipe
	}
	c.unparsed = append(c.unparsed, p...)
	commands, rest, err := parse(c.unparsed)
	c.unparsed = append(c.unparsed[:0], rest...)
	c.mu.Unlock()
	for _, command := range commands {
		c.line.receive(command)
	}
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) {
	for {
		n, until, err := c.take(p)
		if n > 0 || err != nil {
			return n, err
		}
		c.wait(until)
	}
}

// take reads what there is, or says until when to wait for more.
func (c *Conn) take(p []byte) (n int, until time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return 0, until, net.ErrClosed
	case !c.deadline.IsZero() && !time.Now().Before(c.deadline):
		return 0, until, os.ErrDeadlineExceeded
	case len(c.unread) > 0:
		n = copy(p, c.unread)
		c.unread = append(c.unread[:0], c.unread[n:]...)
		return n, until, nil
	case c.broken:
		return 0, until, io.EOF
	}
	return 0, c.deadline, nil
}

func (c *Conn) wait(until time.Time) {
	var over <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-c.changed:
	case <-over:
	}
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.mu.Lock()
	before := c.closed
	c.closed = true
	c.mu.Unlock()
	if !before {
		c.wake()
		c.line.desert()
	}
	return nil
}

func (c *Conn) wake() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	c.deadline = t
	c.mu.Unlock()
	c.wake()
	return nil
}

// SetDeadline implements net.Conn. A write never waits.
func (c *Conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetWriteDeadline implements net.Conn.
func (*Conn) SetWriteDeadline(time.Time) error { return nil }

// LocalAddr implements net.Conn.
func (*Conn) LocalAddr() net.Addr { return &net.TCPAddr{} }

// RemoteAddr implements net.Conn.
func (*Conn) RemoteAddr() net.Addr { return &net.TCPAddr{} }
