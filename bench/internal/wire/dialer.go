// Package wire is the network between a contestant and Redis: it makes the way longer, and counts what is asked. It is the same
// for every contestant, whatever client library it has.
package wire

import (
	"context"
	"net"
	"sync/atomic"
	"time"
)

// Dialer dials Redis.
type Dialer struct {
	RoundTrip time.Duration // added to every request and its reply; 0 adds none
	Requests  *atomic.Int64 // counts the requests sent on all its connections
}

// DialContext is for go-redis and rueidis alike. It fails as net.Dialer does.
func (d Dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return d.Wrap(conn), nil
}

// Wrap adds the delay and the counter to conn.
func (d Dialer) Wrap(conn net.Conn) net.Conn {
	if d.RoundTrip > 0 {
		conn = newDelayedConn(conn, d.RoundTrip)
	}
	return &countingConn{Conn: conn, requests: d.Requests}
}
