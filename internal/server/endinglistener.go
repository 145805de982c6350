package server

import (
	"context"
	"errors"
	"net"
	"os"
	"time"
)

// listenTCP listens as net.Listen does, but never for MPTCP: an MPTCP listener cannot refuse what comes while it ends.
func listenTCP(ctx context.Context, addr string) (net.Listener, error) {
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	return config.Listen(ctx, "tcp", addr)
}

// endingListener can end without resetting the connections that are made, but not yet accepted. Accept is called by one goroutine.
type endingListener struct {
	net.Listener
	last []net.Conn // not yet given out
}

// end makes Accept give out what has connected, and then end. It reports whether the listener can do so.
func (l *endingListener) end() bool {
	tcp, ok := l.Listener.(*net.TCPListener)
	return ok && tcp.SetDeadline(time.Now()) == nil
}

// Accept gives out the last connections after the deadline, and then net.ErrClosed.
func (l *endingListener) Accept() (net.Conn, error) {
	if len(l.last) == 0 {
		conn, err := l.Listener.Accept()
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return conn, err
		}
		l.last = lastOf(l.Listener.(*net.TCPListener))
		_ = l.Close() // it is not listened at any more
	}
	if len(l.last) == 0 {
		return nil, net.ErrClosed
	}
	conn := l.last[0]
	l.last = l.last[1:]
	return conn, nil
}
