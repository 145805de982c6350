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

// acceptPause is how long an embedded Redis waits after a failed Accept: if file descriptors have run out, some may be closed meanwhile.
// It also bounds the time to tell a client that the server is full.
const acceptPause = 20 * time.Millisecond

// errStopped is the error of a dial while the embedded Redis is closed.
var errStopped = errors.New("the embedded Redis is stopped")

// embedded is a miniredis in this process with a listener of its own, because miniredis stops accepting after the first Accept error.
type embedded struct {
	*miniredis.Miniredis

	Addr        string       // listening address; unchanged while the server is closed
	clientLimit *clientLimit // counts the connections accepted by the listener

	mu        sync.Mutex
	server    *server.Server // nil while closed
	listener  net.Listener
	accepting sync.WaitGroup // the goroutine of accept
}

// startEmbedded starts a Redis in this process that listens at addr.
func startEmbedded(addr string, clientLimit *clientLimit) (*embedded, error) {
	e := &embedded{Miniredis: miniredis.NewMiniRedis(), Addr: addr, clientLimit: clientLimit}
	if err := e.Restart(); err != nil {
		return nil, err
	}
	e.ClockTTL(true) // Keys expire by the clock instead of by miniredis.FastForward.
	return e, nil
}

// Restart starts a closed server at its address, with the data it had when it was closed.
func (e *embedded) Restart() error {
	listener, err := net.Listen("tcp", e.Addr)
	if err != nil {
		return err
	}
	probe, err := e.Dial() // The first Dial starts miniredis without a listener.
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	_ = probe.Close() // Closing a connection in memory does not fail.
	e.mu.Lock()
	defer e.mu.Unlock()
	e.Addr, e.listener, e.server = listener.Addr().String(), listener, e.Server()
	redisServer := e.server
	e.accepting.Go(func() { accept(listener, e.clientLimit, redisServer.ServeConn) })
	return nil
}

// Close closes all connections and the listener. The data stay.
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

// dial opens a connection from this process, which does not count towards the client limit. It fails at once if file descriptors have run
// out. It uses TCP so that go-redis can check before each command whether the server has closed the connection.
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

// connectionPair returns both ends of a new TCP connection.
func connectionPair(ctx context.Context) (clientEnd, serverEnd net.Conn, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = listener.Close() }() // The only connection has been accepted.
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
		_ = serverEnd.Close() // Some other process connected first.
	}
}

// accept passes the connections of a listener to serve, within the client limit, until the listener is closed.
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

// clientLimit bounds the connections accepted by the listeners of all embedded servers, because a process has a limited number of file
// descriptors.
type clientLimit struct {
	maxClients int // maximum number of connections; 0: unlimited

	mu     sync.Mutex
	n      int            // open connections
	silent []*limitedConn // connections that have sent nothing yet, oldest first
}

// admit counts conn until the connection that it returns, a wrapper of conn, is closed. At the limit it closes the oldest connection that
// has sent nothing yet. If every client has sent something, it refuses conn with the error that Redis sends, and returns nil.
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

// evictIfFull closes the oldest silent connection if the limit is reached. It reports whether another connection can be admitted.
func (c *clientLimit) evictIfFull() bool {
	c.mu.Lock()
	full := c.maxClients > 0 && c.n >= c.maxClients
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

// removeSilent records that a client has sent something or has closed its connection.
func (c *clientLimit) removeSilent(conn *limitedConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silent = slices.DeleteFunc(c.silent, func(other *limitedConn) bool { return other == conn })
}

// release subtracts a closed connection.
func (c *clientLimit) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n--
}

// limitedConn is a connection that counts towards a clientLimit until it is closed.
type limitedConn struct {
	net.Conn

	limit     *clientLimit
	firstRead sync.Once // removes the connection from limit.silent
	closed    sync.Once // subtracts the connection from limit.n
}

// Read implements net.Conn.
func (c *limitedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.firstRead.Do(func() { c.limit.removeSilent(c) })
	return n, err
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	c.firstRead.Do(func() { c.limit.removeSilent(c) })
	c.closed.Do(c.limit.release)
	return c.Conn.Close()
}
