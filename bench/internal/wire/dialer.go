// Package wire implements the connections between a contestant and Redis. They add a delay, and count requests, in the same way for every
// client library. Begin with Dialer.
package wire

import (
	"context"
	"net"
	"sync/atomic"
	"time"
)

// Dialer opens connections to Redis.
type Dialer struct {
	RoundTrip time.Duration // delay added to each request; 0: none
	Requests  *atomic.Int64 // counter of the requests on all connections
}

// DialContext opens a connection; its errors are those of net.Dialer.
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
