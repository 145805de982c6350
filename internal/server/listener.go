package server

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"lockstep/internal/load"
	"lockstep/internal/lock"
)

var errFull = lock.WithCode("busy",
	"too many connections are open for the files that this server may open (ulimit -n); the request was not handled")

// overflowGrace is how long an excess connection may take to send its request, and be refused, while further connections wait.
const overflowGrace = 50 * time.Millisecond

// boundListener limits the number of its connections and the duration of each write. It works below net/http, which also writes by itself.
type boundListener struct {
	net.Listener

	capacity load.Capacity
	closed   chan struct{} // closed by close
	close    func()        // ends Accept
	left     chan struct{} // receives after a connection has been removed

	mu   sync.Mutex
	open int          // number of open connections
	over []*boundConn // connections beyond capacity.Connections, oldest first
}

// newBoundListener returns a listener that limits listener by capacity.
func newBoundListener(listener net.Listener, capacity load.Capacity) *boundListener {
	l := &boundListener{Listener: listener, capacity: capacity, closed: make(chan struct{}), left: make(chan struct{}, 1)}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	return l
}

// Accept implements net.Listener. It waits until the capacity allows another connection.
func (l *boundListener) Accept() (net.Conn, error) {
	for wait, full := l.isFull(); full; wait, full = l.isFull() {
		select {
		case <-l.left:
		case <-wait:
			l.closeOldest()
		case <-l.closed:
			return nil, net.ErrClosed
		}
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	bound := &boundConn{Conn: conn, listener: l, since: time.Now()}
	l.add(bound)
	return bound, nil
}

// isFull reports whether the capacity is used up. until fires when the oldest excess connection must be closed; nil: there is none.
func (l *boundListener) isFull() (until <-chan time.Time, full bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.capacity.Connections == 0 || l.open < l.capacity.Connections+l.capacity.Overflow {
		return nil, false
	}
	if len(l.over) == 0 {
		return nil, true
	}
	return time.After(time.Until(l.over[0].since.Add(overflowGrace))), true
}

// closeOldest closes the oldest excess connection, if any, which has not sent its request in time.
func (l *boundListener) closeOldest() {
	l.mu.Lock()
	var oldest *boundConn
	if len(l.over) > 0 {
		oldest = l.over[0]
	}
	l.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close() // Its client has used up overflowGrace.
	}
}

// add counts a new connection.
func (l *boundListener) add(conn *boundConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open++
	if conn.over = l.capacity.Connections > 0 && l.open > l.capacity.Connections; conn.over {
		l.over = append(l.over, conn)
	}
}

// remove subtracts a closed connection, and wakes Accept.
func (l *boundListener) remove(conn *boundConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	l.over = slices.DeleteFunc(l.over, func(other *boundConn) bool { return other == conn })
	select {
	case l.left <- struct{}{}:
	default: // A wake-up for Accept is already pending.
	}
}

// Close implements net.Listener.
func (l *boundListener) Close() error {
	l.close()
	return l.Listener.Close()
}

// connections returns the number of open connections.
func (l *boundListener) connections() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

// isCrowded reports whether there may soon be too many connections.
func (l *boundListener) isCrowded() bool {
	return l.capacity.Connections > 0 && l.connections() > l.capacity.Connections/2
}

// boundConn is a connection that counts towards the limits of its listener.
type boundConn struct {
	net.Conn

	listener *boundListener
	since    time.Time // time of Accept
	over     bool      // accepted beyond capacity.Connections
	closing  sync.Once
}

// Write implements net.Conn. It limits the write to WriteTime.
func (c *boundConn) Write(text []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(WriteTime)); err != nil {
		return 0, err
	}
	return c.Conn.Write(text)
}

// Close implements net.Conn.
func (c *boundConn) Close() error {
	c.closing.Do(func() { c.listener.remove(c) })
	return c.Conn.Close()
}

// CloseWrite lets net/http half-close the connection, so that its last bytes arrive.
func (c *boundConn) CloseWrite() error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		return tcp.CloseWrite()
	}
	return nil
}

// connKey is the context key of a request's connection.
type connKey struct{}

// withConn stores conn in the request's context for admit.
func withConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// admit refuses the requests of an excess connection and closes it. While many connections are open, it closes each after its response.
// GET /healthz is always answered.
func admit(header http.Header, r *http.Request) error {
	conn, ok := r.Context().Value(connKey{}).(*boundConn)
	if !ok || !conn.over && !conn.listener.isCrowded() {
		return nil
	}
	header.Set("Connection", "close")
	if conn.over && r.URL.Path != "/healthz" {
		return errFull
	}
	return nil
}
