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
type ClientConn struct {
	peer *ServerConn // the other end; it is told in the client's own goroutine

	mu       sync.Mutex
	unparsed []byte // sent by the client, no whole command yet
	unread   []byte // sent by the server
	isBroken bool   // the server has gone away
	isClosed bool   // the client has closed it
	deadline time.Time
	changed  chan struct{} // something of the above has, for who reads
}

// send lets the client read something.
func (c *ClientConn) deliver(b []byte) {
	c.mu.Lock()
	c.unread = append(c.unread, b...)
	c.mu.Unlock()
	c.signalChange()
}

// end ends the connection, as a server that goes away does.
func (c *ClientConn) breakOff() {
	c.mu.Lock()
	c.isBroken = true
	c.mu.Unlock()
	c.signalChange()
}

// isOver reports whether the connection has ended, on either side.
func (c *ClientConn) isOver() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.isBroken || c.isClosed
}

// Write implements net.Conn.
func (c *ClientConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	if c.isBroken || c.isClosed {
		c.mu.Unlock()
		return 0, io.ErrClosedPipe
	}
	c.unparsed = append(c.unparsed, p...)
	commands, rest, err := parseCommands(c.unparsed)
	c.unparsed = append(c.unparsed[:0], rest...)
	c.mu.Unlock()
	for _, command := range commands {
		c.peer.receive(command)
	}
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// Read implements net.Conn.
func (c *ClientConn) Read(p []byte) (int, error) {
	for {
		n, until, err := c.readAvailable(p)
		if n > 0 || err != nil {
			return n, err
		}
		c.wait(until)
	}
}

// take reads what there is, or says until when to wait for more.
func (c *ClientConn) readAvailable(p []byte) (n int, until time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.isClosed:
		return 0, until, net.ErrClosed
	case !c.deadline.IsZero() && !time.Now().Before(c.deadline):
		return 0, until, os.ErrDeadlineExceeded
	case len(c.unread) > 0:
		n = copy(p, c.unread)
		c.unread = append(c.unread[:0], c.unread[n:]...)
		return n, until, nil
	case c.isBroken:
		return 0, until, io.EOF
	}
	return 0, c.deadline, nil
}

func (c *ClientConn) wait(until time.Time) {
	var expired <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-c.changed:
	case <-expired:
	}
}

// Close implements net.Conn.
func (c *ClientConn) Close() error {
	c.mu.Lock()
	wasClosed := c.isClosed
	c.isClosed = true
	c.mu.Unlock()
	if !wasClosed {
		c.signalChange()
		c.peer.markClosed()
	}
	return nil
}

func (c *ClientConn) signalChange() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// SetReadDeadline implements net.Conn.
func (c *ClientConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	c.deadline = t
	c.mu.Unlock()
	c.signalChange()
	return nil
}

// SetDeadline implements net.Conn. A write never waits.
func (c *ClientConn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetWriteDeadline implements net.Conn.
func (*ClientConn) SetWriteDeadline(time.Time) error { return nil }

// LocalAddr implements net.Conn.
func (*ClientConn) LocalAddr() net.Addr { return &net.TCPAddr{} }

// RemoteAddr implements net.Conn.
func (*ClientConn) RemoteAddr() net.Addr { return &net.TCPAddr{} }
