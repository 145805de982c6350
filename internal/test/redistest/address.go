package redistest

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Address is an address on loopback that leads to a server of choice, as a name or a virtual address does.
type Address struct {
	Addr string

	mu     sync.Mutex
	server string
}

// NewAddress makes one that leads to a server until the test ends.
func NewAddress(t testing.TB, server string) *Address {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	a := &Address{Addr: listener.Addr().String(), server: server}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go a.pass(client)
		}
	}()
	return a
}

// Move makes new connections lead to another server. Those that are open stay.
func (a *Address) Move(server string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.server = server
}

// pass passes a connection on until either side closes it.
func (a *Address) pass(client net.Conn) {
	defer client.Close()
	a.mu.Lock()
	to := a.server
	a.mu.Unlock()
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		_, _ = io.Copy(server, client) // an end is one of either side
		_ = server.Close()
	}()
	_, _ = io.Copy(client, server)
}
