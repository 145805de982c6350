package server

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// ClientConn is the client's end of an in-memory connection, a net.Conn. It is made for synctest bubbles: a blocked Read counts as durably
// blocked, and deadlines follow the bubble's clock.
type ClientConn struct {
	peer *Conn // server's end; its methods run in the client's goroutine

	mu       sync.Mutex    // guards the fields below
	unparsed []byte        // bytes sent by the client that form no complete command yet
	unread   []byte        // bytes sent by the server that the client has not read
	isBroken bool          // the server has ended the connection
	isClosed bool          // the client has called Close
	deadline time.Time     // deadline of Read; zero: none
	changed  chan struct{} // signals a blocked Read that a field has changed; capacity 1
}

// deliver makes bytes available to the client's Read.
func (c *ClientConn) deliver(b []byte) {
	c.mu.Lock()
	c.unread = append(c.unread, b...)
	c.mu.Unlock()
	c.signalChange()
}

// breakOff ends the connection from the server's side: after the delivered bytes, Read returns io.EOF.
func (c *ClientConn) breakOff() {
	c.mu.Lock()
	c.isBroken = true
	c.mu.Unlock()
	c.signalChange()
}

// isOver reports whether either side has ended the connection.
func (c *ClientConn) isOver() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.isBroken || c.isClosed
}

// Write implements net.Conn. It passes each complete command to the server's end.
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

// Read implements net.Conn. It blocks until bytes arrive, the connection ends, or the read deadline passes.
func (c *ClientConn) Read(p []byte) (int, error) {
	for {
		n, deadline, err := c.readAvailable(p)
		if n > 0 || err != nil {
			return n, err
		}
		c.wait(deadline)
	}
}

// readAvailable reads without blocking. If nothing is available, it returns n = 0 and the deadline to wait for; zero: none.
func (c *ClientConn) readAvailable(p []byte) (n int, deadline time.Time, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.isClosed:
		return 0, deadline, net.ErrClosed
	case !c.deadline.IsZero() && !time.Now().Before(c.deadline):
		return 0, deadline, os.ErrDeadlineExceeded
	case len(c.unread) > 0:
		n = copy(p, c.unread)
		c.unread = append(c.unread[:0], c.unread[n:]...)
		return n, deadline, nil
	case c.isBroken:
		return 0, deadline, io.EOF
	}
	return 0, c.deadline, nil
}

// wait blocks until a field changes or the deadline passes; a zero deadline never passes.
func (c *ClientConn) wait(deadline time.Time) {
	var expired <-chan time.Time
	if !deadline.IsZero() {
		timer := time.NewTimer(time.Until(deadline))
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-c.changed:
	case <-expired:
	}
}

// Close implements net.Conn. Commands already sent may still take effect.
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

// signalChange wakes a blocked Read.
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

// SetDeadline implements net.Conn. It sets the read deadline only, because writes never block.
func (c *ClientConn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetWriteDeadline implements net.Conn. It does nothing, because writes never block.
func (*ClientConn) SetWriteDeadline(time.Time) error { return nil }

// LocalAddr implements net.Conn. The address is empty.
func (*ClientConn) LocalAddr() net.Addr { return &net.TCPAddr{} }

// RemoteAddr implements net.Conn. The address is empty.
func (*ClientConn) RemoteAddr() net.Addr { return &net.TCPAddr{} }
