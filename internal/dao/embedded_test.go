package dao

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/alicebob/miniredis/v2/server"

	"lockstep/internal/test/suite"
)

// failing is a listener that fails twice before each connection, as when files run out.
type failing struct {
	net.Listener

	left int
}

func (f *failing) Accept() (net.Conn, error) {
	if f.left > 0 {
		f.left--
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	f.left = 2
	return f.Listener.Accept()
}

// An embedded Redis outlives errors of Accept, and ends with its listener.
func TestEmbeddedRedisAcceptsAfterErrors(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	redis, ended := server.NewServerConn(), make(chan struct{})
	defer redis.Close()
	if err := redis.Register("PING", func(c *server.Peer, _ string, _ []string) { c.WriteInline("PONG") }); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(ended)
		accept(&failing{Listener: listener, left: 2}, &clientLimit{}, redis.ServeConn)
	}()
	for range 3 {
		if got := pong(t, listener.Addr().String()); got != "+PONG\r\n" {
			t.Errorf("after errors of Accept: %q", got)
		}
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	<-ended
}

// pong returns what a Redis says to a new client's PING.
func pong(t *testing.T, addr string) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, "*1\r\n$4\r\nPING\r\n"); err != nil {
		t.Fatal(err)
	}
	reply := make([]byte, 100)
	n, err := conn.Read(reply)
	if err != nil {
		t.Fatal(err)
	}
	return string(reply[:n])
}

func (c *clientLimit) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// Of the clients of other processes there are so many at most, on the embedded Redis and its nodes together. The shop's own come in all the
// same, and another as soon as one has left.
func TestEmbeddedClientLimitEvictsSilentClients(t *testing.T) {
	const most = 2
	redis, err := Open(t.Context(), Config{EmbeddedAddr: "127.0.0.1:0", EmbeddedClients: most})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	silent, err := net.Dial("tcp", redis.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	suite.Eventually(t, "so many clients are there", func() bool { return redis.embedded.clientLimit.count() == 1 })
	for _, addr := range []string{redis.Addr, redis.Nodes[0].Addr} {
		if got := pong(t, addr); got != "+PONG\r\n" { // and stays
			t.Errorf("one that sends something: %q", got)
		}
	}
	if said, err := io.ReadAll(silent); len(said) > 0 || err != nil {
		t.Errorf("one that has sent nothing is told %q, %v; want it to be closed", said, err)
	}
	refused, err := net.Dial("tcp", redis.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer refused.Close()
	if said, err := io.ReadAll(refused); string(said) != "-ERR max number of clients reached\r\n" || err != nil {
		t.Errorf("one too many is told %q, %v", said, err)
	}
	for _, own := range []interface {
		Restart() error
	}{redis, redis.Nodes[1]} {
		if err := own.Restart(); err != nil { // so that connections are made anew
			t.Fatal(err)
		}
	}
	if err := errors.Join(redis.Lock.Ping(t.Context()).Err(), redis.Nodes[1].Ping(t.Context()).Err()); err != nil {
		t.Errorf("the shop's own client: %v", err)
	}
	if err := redis.Nodes[0].Restart(); err != nil { // and its client has left
		t.Fatal(err)
	}
	suite.Eventually(t, "so many clients are there", func() bool { return redis.embedded.clientLimit.count() == 0 })
	if got := pong(t, redis.Addr); got != "+PONG\r\n" {
		t.Errorf("after others have left: %q", got)
	}
}
