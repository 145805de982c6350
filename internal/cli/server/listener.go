package server

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/shop/load"
)

var errFull = lock.WithCode("busy",
	"too many connections are open for the files that this server may open (ulimit -n); the request was not handled")

// boundListener bounds its connections: their number, and the time of each write, below net/http, which also writes by itself.
type boundListener struct {
	net.Listener

	places chan struct{} // has one for each open connection, and for the next; nil: there may be any number
	open   atomic.Int64
	most   int64 // connections whose requests are handled; 0: any number
	closed chan struct{}
	close  func()
}

func newBoundListener(listener net.Listener, room load.Capacity) *boundListener {
	l := &boundListener{Listener: listener, most: int64(room.Connections), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	if l.most > 0 {
		l.places = make(chan struct{}, room.Connections+room.Overflow)
	}
	return l
}

// Accept waits until there is a place for another connection, too.
func (l *boundListener) Accept() (net.Conn, error) {
	if l.places != nil {
		select {
		case l.places <- struct{}{}:
		case <-l.closed:
			return nil, net.ErrClosed
		}
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		l.leavePlace()
		return nil, err
	}
	open := l.open.Add(1)
	bound := &boundConn{Conn: conn, leave: sync.OnceFunc(func() {
		l.open.Add(-1)
		l.leavePlace()
	})}
	if l.most > 0 {
		bound.over, bound.crowded = open > l.most, func() bool { return l.open.Load() > l.most/2 }
	}
	return bound, nil
}

func (l *boundListener) leavePlace() {
	if l.places != nil {
		<-l.places
	}
}

// Close implements net.Listener.
func (l *boundListener) Close() error {
	l.close()
	return l.Listener.Close()
}

type boundConn struct {
	net.Conn

	leave   func()
	over    bool        // it is one too many
	crowded func() bool // others will soon be too many; nil: never
}

func (c *boundConn) Write(text []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(WriteTime)); err != nil {
		return 0, err
	}
	return c.Conn.Write(text)
}

// Close implements net.Conn.
func (c *boundConn) Close() error {
	c.leave()
	return c.Conn.Close()
}

// CloseWrite is for net/http, which uses it so that its last bytes arrive.
func (c *boundConn) CloseWrite() error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		return tcp.CloseWrite()
	}
	return nil
}

type connKey struct{}

// withConn lets admit know the connection of a request.
func withConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// admit refuses the requests of a connection that is one too many, so that it is closed. It keeps no connection open for another request
// while many are open. Whether the process lives can always be asked.
func admit(header http.Header, r *http.Request) error {
	conn, has := r.Context().Value(connKey{}).(*boundConn)
	if !has || conn.crowded == nil || !conn.over && !conn.crowded() {
		return nil
	}
	header.Set("Connection", "close")
	if conn.over && r.URL.Path != "/healthz" {
		return errFull
	}
	return nil
}
