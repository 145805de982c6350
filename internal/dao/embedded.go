package dao

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// acceptPause is how long an embedded Redis waits after a failed Accept: files may have run out, and others are closed.
const acceptPause = 20 * time.Millisecond

var errStopped = errors.New("the embedded Redis is stopped")

// embedded is a Redis in this process, with a listener of our own: miniredis' accepts nobody any more after the first error of Accept.
type embedded struct {
	*miniredis.Miniredis

	Addr        string       // where it listens, also while it is closed
	clientLimit *clientLimit // that came by the listener

	mu        sync.Mutex
	server    *server.Server // nil: it is closed
	listener  net.Listener
	accepting sync.WaitGroup
}

// embed starts a Redis in this process.
func startEmbedded(addr string, clientLimit *clientLimit) (*embedded, error) {
	e := &embedded{Miniredis: miniredis.NewMiniRedis(), Addr: addr, clientLimit: clientLimit}
	if err := e.Restart(); err != nil {
		return nil, err
	}
	e.ClockTTL(true) // keys expire with the clock, not only when a test says so
	return e, nil
}

// Restart starts it at its address, with what it held when it was closed.
func (e *embedded) Restart() error {
	listener, err := net.Listen("tcp", e.Addr)
	if err != nil {
		return err
	}
	probe, err := e.Dial() // starts it without a listener
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	_ = probe.Close() // it is in memory
	e.mu.Lock()
	defer e.mu.Unlock()
	e.Addr, e.listener, e.server = listener.Addr().String(), listener, e.Server()
	to := e.server
	e.accepting.Go(func() { accept(listener, e.clientLimit, to.ServeConn) })
	return nil
}

// Close closes all connections, and takes no more.
func (e *embedded) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.server == nil {
		return
	}
	_ = e.listener.Close()
	e.accepting.Wait()
	e.server = nil
	e.Miniredis.Close()
}

// dial makes a connection within this process. It needs no place among the listener's clients, and fails at once if files have run out.
// It is of TCP, as go-redis sees then whether the other end is still there before it sends a command.
func (e *embedded) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.server == nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errStopped}
	}
	clientEnd, serverEnd, err := connectionPair(ctx)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
	e.server.ServeConn(serverEnd)
	return clientEnd, nil
}

// pair makes both ends of a connection.
func connectionPair(ctx context.Context) (clientEnd, serverEnd net.Conn, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = listener.Close() }() // it has accepted the one
	if clientEnd, err = (&net.Dialer{}).DialContext(ctx, "tcp", listener.Addr().String()); err != nil {
		return nil, nil, err
	}
	for {
		if serverEnd, err = listener.Accept(); err != nil {
			return nil, nil, errors.Join(err, clientEnd.Close())
		}
		if serverEnd.RemoteAddr().String() == clientEnd.LocalAddr().String() {
			return clientEnd, serverEnd, nil
		}
		_ = serverEnd.Close() // a stranger
	}
}

// accept passes on the clients that come by a listener, until it is closed.
func accept(listener net.Listener, clientLimit *clientLimit, serve func(net.Conn)) {
	for {
		conn, err := listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			time.Sleep(acceptPause)
		default:
			if conn = clientLimit.admit(conn); conn != nil {
				serve(conn)
			}
		}
	}
}

// clients are those that came by the listeners of embedded Redises: so many at most, as a process has so many files.
type clientLimit struct {
	most int // 0: any number

	mu     sync.Mutex
	n      int
	silent []*limitedConn // that have sent nothing yet, the oldest first
}

// admit returns the connection of a client, to be counted until it is closed. If there are too many, one that has sent nothing yet has to
// go; if there is none, it returns nil, and the client is told so as by Redis.
func (c *clientLimit) admit(conn net.Conn) net.Conn {
	if !c.evictIfFull() {
		_ = conn.SetWriteDeadline(time.Now().Add(acceptPause))
		_, _ = fmt.Fprint(conn, "-ERR max number of clients reached\r\n")
		_ = conn.Close()
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	admitted := &limitedConn{Conn: conn, limit: c}
	c.n++
	c.silent = append(c.silent, admitted)
	return admitted
}

// room makes room for another.
func (c *clientLimit) evictIfFull() bool {
	c.mu.Lock()
	full := c.most > 0 && c.n >= c.most
	var oldest *limitedConn
	if full && len(c.silent) > 0 {
		oldest = c.silent[0]
	}
	c.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close()
	}
	return !full || oldest != nil
}

// markHeard records that a client has sent something, or leaves.
func (c *clientLimit) removeSilent(admitted *limitedConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silent = slices.DeleteFunc(c.silent, func(other *limitedConn) bool { return other == admitted })
}

func (c *clientLimit) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n--
}

// client is the connection of one.
type limitedConn struct {
	net.Conn

	limit     *clientLimit
	firstRead sync.Once
	closed    sync.Once
}

// Read implements net.Conn.
func (c *limitedConn) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	c.firstRead.Do(func() { c.limit.removeSilent(c) })
	return n, err
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	c.firstRead.Do(func() { c.limit.removeSilent(c) })
	c.closed.Do(c.limit.release)
	return c.Conn.Close()
}
