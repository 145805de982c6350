package server

import (
	"context"
	"errors"
	"net"
	"os"
	"time"
)

// listenTCP listens like net.Listen, but never with MPTCP: an MPTCP listener cannot refuse new connections while it ends.
func listenTCP(ctx context.Context, addr string) (net.Listener, error) {
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	return config.Listen(ctx, "tcp", addr)
}

// endingListener can end without resetting connections that are established but not yet accepted. Only one goroutine may call Accept.
type endingListener struct {
	net.Listener
	pending []net.Conn // pending connections that Accept has not returned yet
}

// end makes Accept return the pending connections, and then net.ErrClosed. It reports whether the listener supports that.
func (l *endingListener) end() bool {
	tcp, ok := l.Listener.(*net.TCPListener)
	return ok && tcp.SetDeadline(time.Now()) == nil
}

// Accept implements net.Listener. After end it returns the pending connections, and then net.ErrClosed.
func (l *endingListener) Accept() (net.Conn, error) {
	if len(l.pending) == 0 {
		conn, err := l.Listener.Accept()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return conn, err
		}
		l.pending = acceptPending(l.Listener.(*net.TCPListener))
		_ = l.Close() // The socket no longer listens.
	}
	if len(l.pending) == 0 {
		return nil, net.ErrClosed
	}
	conn := l.pending[0]
	l.pending = l.pending[1:]
	return conn, nil
}
